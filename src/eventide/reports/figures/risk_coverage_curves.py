"""How right is what is kept? The error rate of the most certain messages, by how many are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from eventide.methods.method import Floats, Prediction
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import SERIES, blank, styled
from eventide.reports.figures.trained_runs import Runs
from eventide.scoring.calibration_error import Ints
from eventide.scoring.selective import aurc, coverage_at_accuracy, risk_coverage

ACCURACIES = (0.95, 0.98, 0.99)
LINES = {"doubt": "-", "vacuity": ":"}
"""What messages are ordered by, and how its line is drawn."""


@dataclass(frozen=True)
class KeptCurve:
    """One method's messages in one order: ``error`` of the kept ones at each ``kept`` share.

    ``at`` is the share that can be kept at each of the accuracies 95, 98 and 99 %.
    """

    method: str
    order: str
    kept: tuple[float, ...]
    error: tuple[float, ...]
    aurc: float
    at: tuple[float, ...]


@dataclass(frozen=True)
class KeptCurves(FigureValues):
    """Curves of all methods on the test messages of one split."""

    data: str
    seed: int
    tested: int
    curves: tuple[KeptCurve, ...]

    def lines(self) -> list[str]:
        """Say how much can be kept, by method and order."""
        found = [f"{self.tested:,} test messages, seed {self.seed}"]
        for each in self.curves:
            told = ", ".join(
                f"{share:.1%} at {accuracy:.0%}"
                for accuracy, share in zip(ACCURACIES, each.at, strict=True)
            )
            found.append(f"{each.method}, by {each.order}: AURC {each.aurc:.5f}; can keep {told}")
        return found


def measure(runs: Runs) -> KeptCurves:
    """Predict the test messages with every method, and order them by doubt and by vacuity."""
    found, tested = [], 0
    for variant in runs.methods:
        run = runs.fitted(variant)
        prediction, truth = run.predict("test"), run.truth("test")
        tested = len(truth)
        found += [
            curve_of(run.name, order, values, prediction, truth)
            for order, values in zip(LINES, (prediction.doubt, prediction.vacuity), strict=True)
        ]
    return KeptCurves(runs.name, runs.seed, tested, tuple(found))


def curve_of(
    method: str, order: str, doubt: Floats, prediction: Prediction, truth: Ints
) -> KeptCurve:
    """Order messages by any kind of doubt, and count errors among the kept."""
    right = prediction.scored_as == truth
    curve = risk_coverage(doubt, right)
    return KeptCurve(
        method,
        order,
        tuple(curve.coverage.tolist()),
        tuple(curve.risk.tolist()),
        aurc(doubt, right),
        tuple(coverage_at_accuracy(doubt, right, each) for each in ACCURACIES),
    )


@styled
def draw(values: KeptCurves) -> Figure:
    """Draw the error rate of the kept messages over the share that is kept."""
    figure = blank(3.4, 5.6)
    axes = figure.subplots()
    methods = list(dict.fromkeys(each.method for each in values.curves))
    for each in values.curves:
        colour = SERIES[methods.index(each.method) % len(SERIES)]
        kept, error = np.array(each.kept), np.array(each.error)
        label = f"{each.method}, by {each.order} (AURC {each.aurc:.4f})"
        axes.step(kept, error, where="post", color=colour, linestyle=LINES[each.order], label=label)
    axes.set_xlabel("share of the messages kept, the most certain first")
    axes.set_ylabel("share of the kept that is wrong")
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.grid()
    figure.legend(loc="outside lower center", ncols=1)
    figure.suptitle(
        f"Keep the certain, look at the rest\n{values.data}, {values.tested:,} messages"
    )
    return figure


FIGURE = Recipe(measure, draw, methods=("ucl-ec+cb", "ce"), model=True)
