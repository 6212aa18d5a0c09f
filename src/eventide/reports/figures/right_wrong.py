"""Is a method less sure where it is wrong? Uncertainty of right and wrong predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import (
    BLACK,
    BLUE,
    VERMILLION,
    blank,
    panel_name,
    styled,
    text_of,
)
from eventide.reports.figures.trained_runs import Runs
from eventide.scoring.metrics import error_auroc

BINS = 26
LEAST = -12  # the power of ten that smaller uncertainties are drawn at
STYLES = {"right": (BLUE, ""), "wrong": (VERMILLION, "////")}
"""Colour and hatch of each kind of prediction."""
SMALL = 1 / 20
"""A median below this share of the largest value calls for a log scale."""


@dataclass(frozen=True)
class RightWrong:
    """The uncertainties of one method's right and wrong predictions of validation messages.

    ``auroc``: how well uncertainty ranks wrong above right predictions; None where all are right.
    """

    method: str
    right: tuple[float, ...]
    wrong: tuple[float, ...]
    auroc: float | None


@dataclass(frozen=True)
class RightsWrongs(FigureValues):
    """All methods on the validation messages of one split."""

    data: str
    seed: int
    methods: tuple[RightWrong, ...]
    what: str = "validation messages"

    def lines(self) -> list[str]:
        """Counts, means and medians of right and of wrong predictions."""
        found = [f"{self.what}, seed {self.seed}"]
        for each in self.methods:
            found += [
                f"{each.method}: right {_summary(each.right)}",
                f"{each.method}: wrong {_summary(each.wrong)}",
                f"{each.method}: AUROC of uncertainty against error {text_of(each.auroc, '.3f')}",
            ]
        return found


def measure(runs: Runs) -> RightsWrongs:
    """Predict the validation messages with every method."""
    found = []
    for variant in runs.methods:
        run = runs.fitted(variant)
        prediction = run.predict("val")
        wrong = prediction.scored_as != run.truth("val")
        found.append(
            RightWrong(
                run.name,
                tuple(prediction.uncertainty[~wrong].tolist()),
                tuple(prediction.uncertainty[wrong].tolist()),
                error_auroc(wrong, prediction.uncertainty),
            )
        )
    return RightsWrongs(runs.name, runs.seed, tuple(found), runs.part_name("val"))


@styled
def draw(values: RightsWrongs) -> Figure:
    """Draw one panel per method: the share of right and of wrong predictions by uncertainty."""
    count = len(values.methods)
    columns = min(2, count)
    rows = -(-count // columns)
    figure = blank(1.0 + 2.4 * rows, 4.6 if count == 1 else 7.2)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    bins = _bins(np.array([one for each in values.methods for one in (*each.right, *each.wrong)]))
    for axes, each in zip(panels, values.methods, strict=False):
        _panel(axes, each, bins)
    for axes in panels[count:]:
        axes.set_visible(False)
    for axes in panels[:count]:
        axes.set_xlabel("uncertainty of the prediction (at most 1)")
        axes.xaxis.set_tick_params(labelbottom=True)
    for axes in panels[:count:columns]:
        axes.set_ylabel("share of the predictions, %")
    # Outside of the panels: inside there is always a bar that it could hide.
    handles = [
        *(Patch(facecolor=colour, alpha=0.6, hatch=hatch, label=name, edgecolor="white", lw=0.4)
          for name, (colour, hatch) in STYLES.items()),
        Line2D([], [], color=BLACK, linestyle="--", label="median"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    figure.suptitle(f"Uncertainty of right and wrong predictions\n{values.data}, {values.what}")
    return figure


def _bins(values: NDArray[np.float64]) -> list[float]:
    """Equal bins from 0 on; equal on a log scale where most values would share the first few.

    >>> _bins(np.array([0.5, 0.6]))[0], _bins(np.array([1e-4, 2e-4, 0.1]))[0] > 0
    (0.0, True)
    >>> _bins(np.array([1e-30, 1e-30, 1e-20]))[-1] > _bins(np.array([1e-30, 1e-30, 1e-20]))[0]
    True
    """
    positive = values[values > 0]
    if len(positive) and np.median(values) < SMALL * positive.max():
        low = max(np.floor(np.log10(positive.min())), LEAST)
        high = max(np.ceil(np.log10(positive.max())), low + 1)
        return list(map(float, np.geomspace(10**low, 10**high, BINS)))
    largest = values.max(initial=0.0)
    return list(map(float, np.linspace(0, max(0.1, np.ceil(10 * largest) / 10), BINS)))


def _panel(axes: Axes, each: RightWrong, bins: list[float]) -> None:
    for values, (colour, hatch) in zip((each.right, each.wrong), STYLES.values(), strict=True):
        if values:
            share = np.full(len(values), 100 / len(values))
            axes.hist(
                np.maximum(values, bins[0]),
                bins,
                weights=share,
                color=colour,
                alpha=0.6,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.4,
            )
            axes.axvline(float(np.median(values)), color=colour, linestyle="--")
    if bins[0] > 0:
        axes.set_xscale("log")
    axes.set_xlim(bins[0], bins[-1])
    axes.grid(axis="y")
    counts = f"{len(each.right)} right, {len(each.wrong) or 'none'} wrong"
    panel_name(axes, f"{each.method}: {counts}\nAUROC {text_of(each.auroc, '.3f')}")


def _summary(values: tuple[float, ...]) -> str:
    if not values:
        return "none"
    return (
        f"{len(values)} predictions, uncertainty mean {np.mean(values):.4f}, "
        f"median {np.median(values):.4f}"
    )


FIGURE = Recipe(measure, draw, methods=("ucl-ec",), model=True)
