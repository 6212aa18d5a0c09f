"""Labelled messages that a report measures a model on: right or wrong, and with which doubt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eventide.methods.method import Bools, Floats
from eventide.reports.html.review import ReviewRule
from eventide.scoring.calibration_error import (
    Reliability,
    expected_calibration_error,
    reliability,
)
from eventide.scoring.metrics import Scores, error_auroc, score
from eventide.scoring.selective import risk_coverage

Ints = NDArray[np.int64]
BINS = 10
STEPS = 100
"""Points of the curve of risk and coverage."""


@dataclass(frozen=True)
class Measured:
    """m labelled messages; ``truth`` and ``predicted`` index ``events``, -1 is no evidence.

    The first ``classes`` events are those the model knows. ``rows`` are the messages' places among
    those of the report, None where the report does not have them. ``flattered`` says that they
    chose the epoch.
    """

    what: str
    events: tuple[str, ...]
    classes: int
    truth: Ints
    predicted: Ints
    doubt: Floats
    rows: Ints | None = None
    flattered: bool = False

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def wrong(self) -> Bools:
        """Which messages are assigned to another event than their own."""
        missed: Bools = self.truth != self.predicted
        return missed

    @cached_property
    def scores(self) -> Scores:
        """Accuracy and its company; no evidence counts as wrong."""
        names = np.array([*self.events, ""])
        return score(names[self.truth], names[self.predicted])

    @cached_property
    def confusion(self) -> Ints:
        """Count messages by event and assigned event [events, classes + 1]; last: no evidence."""
        columns = self.classes + 1
        put = np.where(self.predicted < 0, self.classes, self.predicted)
        found: Ints = np.bincount(self.truth * columns + put, minlength=len(self.events) * columns)
        return found.reshape(len(self.events), columns)

    @cached_property
    def calibration_error(self) -> float:
        """How far stated probabilities are from the shares that are right, on average."""
        return expected_calibration_error(1 - self.doubt, ~self.wrong)

    @cached_property
    def error_auroc(self) -> float | None:
        """How well doubt ranks wrong above right assignments."""
        return error_auroc(self.wrong, self.doubt)

    def reliability(self) -> Reliability:
        """Compare stated probabilities with the shares that are right, bin by bin."""
        return reliability(1 - self.doubt, ~self.wrong, BINS)

    def risk_coverage(self) -> list[tuple[float, float, float]]:
        """Return coverage, share of errors in it and its largest doubt, the surest first.

        A curve of very many points keeps some of them, evenly spread.
        """
        curve = risk_coverage(self.doubt, ~self.wrong)
        points = list(
            zip(curve.coverage.tolist(), curve.risk.tolist(), curve.doubt.tolist(), strict=True)
        )
        if len(points) <= STEPS:
            return points
        return [points[k] for k in np.linspace(0, len(points) - 1, STEPS).round().astype(int)]

    def kept(self, rule: ReviewRule) -> tuple[float, float]:
        """Return the share of messages that nobody needs to read, and the share of errors in it."""
        kept = ~rule.to_read(self.doubt)
        return float(kept.mean()), float(self.wrong[kept].mean()) if kept.any() else 0.0
