"""What a comparison found: runs by variant, their means and deviations, and their pairing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eventide.experiments.jobs import ExperimentPlan
from eventide.experiments.run_log import Outcome, RunRecord
from eventide.experiments.sources import code_name
from eventide.experiments.variants import Variant
from eventide.scoring.bootstrap import Bootstrap, paired_bootstrap, same_messages_bootstrap
from eventide.scoring.metrics import error_auroc
from eventide.scoring.significance import CorrectedTTest, corrected_t_test


@dataclass(frozen=True)
class Spread:
    """Mean and sample deviation over runs; no deviation with one run."""

    mean: float
    deviation: float | None
    runs: int

    @classmethod
    def of(cls, values: list[float]) -> Spread | None:
        """Summarise values; None where there are none.

        >>> Spread.of([0.8, 0.9]).deviation
        0.07071067811865474
        """
        if not values:
            return None
        mean = math.fsum(values) / len(values)
        if len(values) == 1:
            return cls(mean, None, 1)
        squares = math.fsum((value - mean) ** 2 for value in values)
        return cls(mean, math.sqrt(squares / (len(values) - 1)), len(values))


@dataclass(frozen=True)
class Difference:
    """How far a variant is from the reference, by messages and by runs."""

    variant: str
    reference: str
    bootstrap: Bootstrap
    t_test: CorrectedTTest


@dataclass(frozen=True)
class Results:
    """Finished ``runs`` by variant and in order of seeds, and the ``failures``."""

    path: Path
    plan: ExperimentPlan
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...]
    runs: Mapping[str, tuple[RunRecord, ...]]
    failures: tuple[RunRecord, ...]
    notes: tuple[str, ...] = ()

    @property
    def made_by(self) -> str:
        """Name the code that made the runs: their commits, those of an earlier day too."""
        commits = [run.made_by for runs in self.runs.values() for run in runs]
        return code_name(commits or [self.plan.commit])

    def outcomes(self, variant: str) -> list[Outcome]:
        """Return what the finished runs of a variant gave, in order of seeds."""
        return [run.outcome for run in self.runs.get(variant, ()) if run.outcome is not None]

    def spread(self, variant: str, value: Callable[[Outcome], float | None]) -> Spread | None:
        """Summarise one value of every finished run of a variant; None where there is none."""
        values = [value(outcome) for outcome in self.outcomes(variant)]
        return Spread.of([each for each in values if each is not None])

    def note(self, variant: str) -> str:
        """Return the note that belongs beside a variant's figures."""
        return next((run.note for run in self.runs.get(variant, ()) if run.note), "")

    def difference(self, variant: str, reference: str) -> Difference | None:
        """Compare accuracies on the seeds that both finished; None where there is none.

        Messages that all runs tested are drawn once for all of them.
        """
        theirs = {run.seed: run.outcome for run in self.runs.get(reference, ())}
        pairs = [
            (run.outcome, other)
            for run in self.runs.get(variant, ())
            if run.outcome is not None and (other := theirs.get(run.seed)) is not None
        ]
        if not pairs or not all(one.tested == other.tested for one, other in pairs):
            return None
        sizes = [one.messages for one, _ in pairs]
        return Difference(
            variant,
            reference,
            _bootstrap(pairs),
            corrected_t_test(
                [one.test.accuracy - other.test.accuracy for one, other in pairs],
                sum(size.test for size in sizes) / sum(size.train for size in sizes),
            ),
        )


def _bootstrap(pairs: Sequence[tuple[Outcome, Outcome]]) -> Bootstrap:
    if len(pairs) > 1 and len({one.tested for one, _ in pairs}) == 1:
        gains = [_right(one).astype(float) - _right(other) for one, other in pairs]
        scored = [_scored(one).astype(float) for one, _ in pairs]
        return same_messages_bootstrap(np.array(gains), np.array(scored))
    return paired_bootstrap(
        [_right(one)[_scored(one)] for one, _ in pairs],
        [_right(other)[_scored(one)] for one, other in pairs],
    )


def _scored(outcome: Outcome) -> NDArray[np.bool_]:
    """Tell which messages the run's accuracy is of: those of known events, or all."""
    known = np.less(outcome.truth, outcome.classes)
    apart = known.any() and np.isclose(_right(outcome)[known].mean(), outcome.test.accuracy)
    return known if apart else np.ones(len(known), dtype=bool)


def pooled_auroc(outcomes: Sequence[Outcome]) -> float | None:
    """Say how well doubt ranks errors over the test messages of all runs taken together.

    A run with two errors says little alone. None where there is nothing to rank.
    """
    if not outcomes:
        return None
    wrong = np.concatenate([~_right(each) for each in outcomes])
    return error_auroc(wrong, np.concatenate([each.doubt for each in outcomes]))


def _right(outcome: Outcome) -> NDArray[np.bool_]:
    return np.equal(outcome.truth, outcome.predicted)
