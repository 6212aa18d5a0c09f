"""Accuracy of methods in regimes as a heat map: who is how far behind the best, and where."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from eventide.experiments.regime_results import RegimeResults
from eventide.methods import METHODS
from eventide.reports.figures.recipe import FigureValues
from eventide.reports.figures.style import WIDTH, blank, counted, shorten, styled, text_of
from eventide.reports.tables.mean_ranks import mean_ranks
from eventide.reports.tables.regime_tables import ACCURACY, measured_in
from eventide.reports.tables.regime_titles import dataset, described_messages, seeds, short_title

MAP = "Blues_r"
"""One hue from dark to light: it reads the same in grey and to every eye."""
LEAST_SCALE, MOST_SCALE = 1.0, 10.0
"""Points behind at the light end: what is farther behind would make all others look alike."""
LIGHT_TEXT = 0.45
"""Below this share of the scale a cell is dark, and its text white."""
ROW, HEAD, CELL, NAMES = 0.235, 1.75, 0.72, 2.6
"""Inches of a row, of what is above and below, of a column, and of what stands beside."""
FAINT = "#555555"
NARROWEST = 5.6
LETTERS = 16
"""Letters of the caption in an inch."""


@dataclass(frozen=True)
class RegimeGrid(FigureValues):
    """Accuracy in per cent by method and regime, methods from the best mean rank to the worst."""

    data: str
    tested: str
    seeds: str
    code: str
    regimes: tuple[str, ...]
    methods: tuple[str, ...]
    ours: tuple[bool, ...]
    ranks: tuple[float | None, ...]
    accuracy: tuple[tuple[float | None, ...], ...]

    def lines(self) -> list[str]:
        """Return a row per method: its rank and its accuracies."""
        return [
            f"{method:<22}{text_of(rank, '6.2f', '     -')}  "
            + "".join(text_of(each, "8.2f", "       -") for each in row)
            for method, rank, row in zip(self.methods, self.ranks, self.accuracy, strict=True)
        ]


def measure(results: RegimeResults) -> RegimeGrid:
    """Take mean accuracies from results; methods that lack a regime follow after the others."""
    means = {
        name: [None if each is None else 100 * each.mean for each in row]
        for name, row in measured_in(results, ACCURACY).items()
    }
    means = {name: row for name, row in means.items() if any(each is not None for each in row)}
    written = {
        name: [None if each is None else round(each, 2) for each in row]
        for name, row in means.items()
    }
    ranks = mean_ranks(written)

    def place(name: str) -> tuple[float, float]:
        present = [each for each in means[name] if each is not None]
        return ranks.get(name, np.inf), -sum(present) / len(present)

    order = sorted(means, key=place)
    method_of = {each.name: each.method for each in results.variants}
    own = {entry.name for entry in METHODS if entry.group == "ours"}
    return RegimeGrid(
        data=dataset(results),
        tested=described_messages(results),
        seeds=seeds(results),
        code=results.made_by,
        regimes=tuple(results.parts),
        methods=tuple(order),
        ours=tuple(method_of[name] in own for name in order),
        ranks=tuple(ranks.get(name) for name in order),
        accuracy=tuple(tuple(means[name]) for name in order),
    )


def heat_map(results: RegimeResults) -> Figure:
    """Draw the heat map of results."""
    return draw(measure(results))


@styled
def draw(values: RegimeGrid) -> Figure:
    """Draw a cell per method and regime: its colour is the distance to the best of the column."""
    rows, columns = len(values.methods), len(values.regimes)
    width = min(WIDTH, max(NARROWEST, NAMES + CELL * columns))
    caption = fill(_caption(values), round(width * LETTERS))
    figure = blank(HEAD + 0.14 * caption.count("\n") + ROW * max(rows, 3), width)
    axes = figure.add_subplot()
    accuracy = np.array(values.accuracy, dtype=np.float64).reshape(rows, columns)
    behind = _behind(accuracy)
    farthest = float(np.nanmax(behind, initial=0.0))
    scale = min(MOST_SCALE, max(LEAST_SCALE, farthest))
    image = axes.imshow(behind, cmap=MAP, vmin=0, vmax=scale, aspect="auto")
    _cells(axes, accuracy, behind, scale)
    _names(axes, values)
    bar = figure.colorbar(
        image, ax=axes, pad=0.02, shrink=0.9, extend="max" if farthest > scale else "neither"
    )
    bar.set_label("points behind the best of the column")
    bar.ax.invert_yaxis()
    methods = counted(rows, "method", "methods")
    regimes = counted(columns, "regime", "regimes")
    figure.suptitle(_plain(f"Accuracy of {methods} in {regimes}: {shorten(values.data, 40)}"))
    figure.supxlabel(_plain(caption), x=0.01, ha="left", fontsize=8)
    return figure


def _behind(accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points behind the best of each column; a column without a figure stays empty."""
    best = np.array(
        [np.nan if np.isnan(column).all() else np.nanmax(column) for column in accuracy.T]
    )
    return best - accuracy


def _cells(
    axes: Axes, accuracy: NDArray[np.float64], behind: NDArray[np.float64], scale: float
) -> None:
    for (row, column), value in np.ndenumerate(accuracy):
        if np.isnan(value):
            corner = column - 0.5, row - 0.5
            axes.add_patch(
                Rectangle(corner, 1, 1, facecolor="white", edgecolor="#CCCCCC", hatch="////", lw=0)
            )
            continue
        dark = behind[row, column] / scale < LIGHT_TEXT
        best = round(float(behind[row, column]), 2) == 0
        axes.text(
            column,
            row,
            f"{value:.1f}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "black",
            fontweight="bold" if best else "normal",
        )
    axes.set_xticks(np.arange(-0.5, accuracy.shape[1]), minor=True)
    axes.set_yticks(np.arange(-0.5, accuracy.shape[0]), minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def _names(axes: Axes, values: RegimeGrid) -> None:
    """Name methods on the left, ours in bold, with their mean ranks; regimes above."""
    axes.xaxis.tick_top()
    titles = [_plain(shorten(short_title(name), 14)) for name in values.regimes]
    axes.set_xticks(range(len(titles)), titles)
    if len(titles) > 6:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set(ha="left", rotation_mode="anchor")
    axes.set_yticks(
        range(len(values.methods)), [_plain(shorten(name, 22)) for name in values.methods]
    )
    for label, ours in zip(axes.get_yticklabels(), values.ours, strict=True):
        label.set_fontweight("bold" if ours else "normal")
    if any(rank is not None for rank in values.ranks):
        beside = len(values.regimes) - 0.4
        for row, rank in enumerate(values.ranks):
            told = text_of(rank, ".1f", "-")
            axes.text(beside, row, told, va="center", fontsize=7, color=FAINT)
        axes.text(beside, -0.65, "rank", va="bottom", fontsize=7, color=FAINT)


def _caption(values: RegimeGrid) -> str:
    """Say what is in the picture to whoever sees nothing but it."""
    hatched = any(each is None for row in values.accuracy for each in row)
    return " ".join(
        [
            f"Per cent of {values.tested} that get their event, mean over {values.seeds}.",
            "The darker, the nearer to the best method of the column, which is in bold.",
            "Rows are in order of the mean rank over all regimes" * _ranked(values),
            "(rank);" * _ranked(values),
            "our methods have bold names.",
            "Hatched: no run, and so no rank." * hatched,
            f"Made by {values.code}." * bool(values.code),
        ]
    )


def _ranked(values: RegimeGrid) -> bool:
    return any(rank is not None for rank in values.ranks)


def _plain(text: str) -> str:
    """Keep signs that matplotlib would read as mathematics."""
    return text.replace("$", r"\$")
