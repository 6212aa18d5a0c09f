"""Do probabilities mean what they say? Of messages said to be 90 % sure, how many are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from eventide.methods.method import Prediction
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import BLUE, GREY, ORANGE, blank, panel_name, styled
from eventide.reports.figures.trained_runs import Runs
from eventide.scoring.calibration_error import Ints, expected_calibration_error, reliability

BINS = 10
FEW = 5
"""A bin with fewer messages has a mark, but no line goes through it: it says next to nothing."""
AREA = 260.0
"""Area of the mark of a bin that holds every message, in square points."""
STYLES: dict[str, tuple[str, str, Any]] = {
    "as the method says": (ORANGE, "s", ":"),
    "calibrated": (BLUE, "o", "-"),
}


@dataclass(frozen=True)
class ReliabilityCurve:
    """One method's probabilities of its assigned events, by bins; ``ece`` has 15 bins as usual."""

    method: str
    kind: str
    said: tuple[float, ...]
    right: tuple[float, ...]
    messages: tuple[int, ...]
    ece: float


@dataclass(frozen=True)
class ReliabilityCurves(FigureValues):
    """Curves of all methods on the test messages of one split, before and after calibration."""

    data: str
    seed: int
    validating: int
    tested: int
    curves: tuple[ReliabilityCurve, ...]

    def lines(self) -> list[str]:
        """Say what was said and what happened, bin by bin."""
        found = [
            f"{self.tested:,} test messages, seed {self.seed}; calibrated on {self.validating:,} "
            "validation messages"
        ]
        for each in self.curves:
            found.append(f"{each.method}, {each.kind}: ECE {each.ece:.4f}")
            bins = zip(each.said, each.right, each.messages, strict=True)
            found += [f"  said {s:.3f}, right {r:.3f}, {n:,} messages" for s, r, n in bins]
        return found


def measure(runs: Runs) -> ReliabilityCurves:
    """Predict the test messages with every method, with and without its calibration."""
    found, truth, validating = [], runs.fitted(runs.methods[0]).truth("test"), 0
    for variant in runs.methods:
        run = runs.fitted(variant)
        said = run.uncalibrated("test")
        found += [
            curve_of(run.name, kind, prediction, truth)
            for kind, prediction in zip(
                STYLES, (said, said.calibrated(run.calibration)), strict=True
            )
        ]
        validating = run.validating
    return ReliabilityCurves(runs.name, runs.seed, validating, len(truth), tuple(found))


def curve_of(method: str, kind: str, prediction: Prediction, truth: Ints) -> ReliabilityCurve:
    """Compare the probability of assigned events with how often they are right."""
    right = prediction.scored_as == truth
    curve = reliability(1 - prediction.doubt, right, BINS)
    return ReliabilityCurve(
        method,
        kind,
        tuple(curve.said.tolist()),
        tuple(curve.happened.tolist()),
        tuple(curve.messages.tolist()),
        expected_calibration_error(1 - prediction.doubt, right),
    )


@styled
def draw(values: ReliabilityCurves) -> Figure:
    """Draw one panel per method; a mark's area is its share of the messages."""
    methods = list(dict.fromkeys(each.method for each in values.curves))
    columns = min(2, len(methods))
    rows = -(-len(methods) // columns)
    figure = blank(1.1 + 2.9 * rows, 4.2 if len(methods) == 1 else 7.2)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, method in zip(panels, methods, strict=False):
        own = [each for each in values.curves if each.method == method]
        _panel(axes, own, values.tested)
        errors = " → ".join(f"{each.ece:.3f}" for each in own)
        panel_name(axes, f"{method}: ECE {errors}")
        axes.set_xlabel("said: probability of the assigned event")
    for axes in panels[len(methods) :]:
        axes.set_visible(False)
    for axes in panels[: len(methods) : columns]:
        axes.set_ylabel("happened: share of them that is right")
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle=line, label=name)
        for name, (colour, marker, line) in STYLES.items()
    ]
    handles.append(Line2D([], [], color=GREY, linestyle="--", label="as said"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    figure.suptitle(
        f"What is said and what happens\n{values.data}, {values.tested:,} test messages"
    )
    return figure


def _panel(axes: Axes, curves: list[ReliabilityCurve], tested: int) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
    for each in curves:
        colour, marker, line = STYLES[each.kind]
        full = [at for at, count in enumerate(each.messages) if count >= FEW]
        axes.plot([each.said[k] for k in full], [each.right[k] for k in full], line, color=colour)
        areas = [12 + AREA * count / max(tested, 1) for count in each.messages]
        axes.scatter(each.said, each.right, areas, color=colour, marker=marker, alpha=0.8)
    axes.set_xlim(0, 1.03)
    axes.set_ylim(0, 1.03)
    axes.grid()


FIGURE = Recipe(measure, draw, methods=("ucl-ec+cb", "ce"), model=True)
