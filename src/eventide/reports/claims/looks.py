"""What must be seen of trained models themselves, which a comparison does not keep.

Seed by seed: each method is trained once for all looks at it, and let go before the next seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from eventide.comparison import Contestant, choose
from eventide.comparison.workshop import Prepared
from eventide.errors import EventideError
from eventide.methods.base import Method
from eventide.reports.figures import class_uncertainty, drift, similarity
from eventide.reports.figures.runs import FittedRun, Runs
from eventide.scoring.groups import ClassGroups

CE, UCL, UCL_EC = choose("ce,ucl,ucl-ec").contestants


class SharedRuns(Runs):
    """Runs that also remember the methods which a figure trains by itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.handed_out: dict[tuple[str, int], FittedRun] = {}

    def prepared(self, contestant: Contestant, seed: int) -> tuple[Method, Prepared]:
        """Return a method to train, and keep hold of it."""
        method, prepared = super().prepared(contestant, seed)
        run = FittedRun(contestant.name, method, prepared)
        self.handed_out[contestant.name, seed] = run
        return method, prepared

    def keep(self) -> None:
        """Count every method handed out so far as trained."""
        self._fitted.update(self.handed_out)


def _drift(runs: SharedRuns) -> drift.Drifts:
    runs.methods = (UCL, UCL_EC)
    found = drift.measure(runs)
    runs.keep()  # watching the prototypes changes nothing in a training
    return found


def _class_uncertainty(runs: SharedRuns) -> class_uncertainty.ClassUncertainty:
    return class_uncertainty.measure(runs)


def _groups(runs: SharedRuns) -> ClassGroups:
    return runs.groups()


def _similarity(runs: SharedRuns) -> similarity.Similarities:
    runs.methods = (CE, UCL_EC)
    return similarity.measure(runs)


LOOKS: dict[str, Callable[[SharedRuns], Any]] = {
    # First the one that has to watch a training: the others then look at what it trained.
    "drift": _drift,
    "class-uncertainty": _class_uncertainty,
    "groups": _groups,
    "similarity": _similarity,
}


def looked(runs: Runs, names: Sequence[str]) -> tuple[dict[str, dict[int, Any]], dict[str, str]]:
    """Take the looks for every seed; return them by name and seed, and why some failed."""
    found: dict[str, dict[int, Any]] = {name: {} for name in LOOKS if name in names}
    failed: dict[str, str] = {}
    options = {each.name: getattr(runs, each.name) for each in fields(runs) if each.init}
    for seed in runs.seeds if found else ():
        shared = SharedRuns(**options | {"seeds": (seed,)})
        for name in found:
            try:
                found[name][seed] = LOOKS[name](shared)
            except EventideError as error:
                failed[name] = f"seed {seed}: {error.what}"
            except Exception as error:  # one look that fails must not stop the other claims
                failed[name] = f"seed {seed}: {type(error).__name__}: {error}"
    return found, failed
