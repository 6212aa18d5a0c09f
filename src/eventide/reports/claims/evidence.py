"""What claims are tested with: finished runs, and probes of trained models.

Probes are taken seed by seed: each method is trained once for all probes, and let go before the
next seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from eventide.errors import EventideError
from eventide.experiments import Results, Variant, choose
from eventide.experiments.prepared import Prepared
from eventide.experiments.run_log import Outcome
from eventide.methods.method import Method
from eventide.reports.claims.claim import Claim
from eventide.reports.figures import class_uncertainty
from eventide.reports.figures import drift_curves as drift
from eventide.reports.figures import similarity_histograms as similarity
from eventide.reports.figures.trained_runs import FittedRun, Runs
from eventide.scoring.class_groups import ClassGroups

CE, UCL, UCL_EC = choose("ce,ucl,ucl-ec").variants


class SharedRuns(Runs):
    """Runs that also remember the methods which a figure trains by itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.handed_out: dict[tuple[str, int], FittedRun] = {}

    def prepared(self, variant: Variant, seed: int) -> tuple[Method, Prepared]:
        """Return a method to train, and keep hold of it."""
        method, prepared = super().prepared(variant, seed)
        run = FittedRun(variant.name, method, prepared)
        self.handed_out[variant.name, seed] = run
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


@dataclass(frozen=True)
class Evidence:
    """Runs by variant and looks by name and seed, with the reasons why some are missing."""

    results: Results | None = None
    looks: Mapping[str, Mapping[int, Any]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def outcomes(self, variant: str) -> dict[int, Outcome]:
        """Return what the finished runs of a variant gave, by seed."""
        runs = self.results.runs.get(variant, ()) if self.results else ()
        return {run.seed: run.outcome for run in runs if run.outcome is not None}

    def seen(self, look: str) -> dict[int, Any]:
        """Return a look by seed; seeds for which it failed are left out."""
        return dict(self.looks.get(look, {}))

    def why(self, *names: str) -> str:
        """Say why variants or looks are missing, each reason once."""
        found = dict.fromkeys(
            f"{name}: {self.missing[name]}" for name in names if name in self.missing
        )
        return "; ".join(found) or f"nothing was measured of {' and '.join(names)}"


def gather(runs: Runs, claims: Iterable[Claim]) -> Evidence:
    """Train whom the claims need, each once: those of a kept comparison not at all."""
    claims = tuple(claims)
    wanted = {each.name: each for claim in claims for each in claim.variants}
    looks = {look: None for claim in claims for look in claim.looks}
    missing = {each.name: why for each in wanted.values() if (why := each.missing())}
    able = [each for name, each in wanted.items() if name not in missing]
    results = runs.compared(able) if able else None
    if results is not None:
        for run in results.failures:
            why = " ".join((run.error or "no reason given").split())
            missing.setdefault(run.variant, f"seed {run.seed} failed: {why}")
    seen, failed = looked(runs, tuple(looks))
    return Evidence(results, seen, missing | failed)
