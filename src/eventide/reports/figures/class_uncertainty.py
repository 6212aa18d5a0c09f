"""Figure 1 of the paper: does class uncertainty tell hard classes better than class size does?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    NAMED_CLASSES,
    ORANGE,
    VERMILLION,
    blank,
    class_axis,
    panel_name,
    styled,
    text_of,
    write_values,
)
from eventide.reports.figures.trained_runs import Runs

INDICATORS = ("uncertainty", "1/n", "sqrt(1/n)")


@dataclass(frozen=True)
class Correlation:
    """Rank and linear correlation of an indicator with an error rate; None where undefined.

    1/n and sqrt(1/n) order classes alike, so that only the linear correlation tells them apart.
    """

    indicator: str
    error: str
    spearman: float | None
    pearson: float | None


@dataclass(frozen=True)
class ClassUncertainty(FigureValues):
    """Per class, in the order of uncertainty: what is known of it, and how often it is missed."""

    data: str
    method: str
    seed: int
    classes: tuple[str, ...]
    counts: tuple[int, ...]
    uncertainty: tuple[float, ...]
    training_error: tuple[float, ...]
    test_error: tuple[float | None, ...]
    correlations: tuple[Correlation, ...]

    def lines(self) -> list[str]:
        """One line per class, then the correlations."""
        table = zip(
            self.classes,
            self.counts,
            self.uncertainty,
            self.training_error,
            self.test_error,
            strict=True,
        )
        return [
            f"{'event':<32}{'n':>6} {'uncertainty':>11} {'train error':>11} {'test error':>10}",
            *(
                f"{c:<32}{n:>6} {u:>11.4f} {e:>11.2%} " + text_of(t, ".2%", "none").rjust(10)
                for c, n, u, e, t in table
            ),
            *(
                f"{each.indicator} and {each.error} error: rank correlation (Spearman) "
                f"{text_of(each.spearman, '+.2f')}, linear (Pearson) "
                f"{text_of(each.pearson, '+.2f')}"
                for each in self.correlations
            ),
        ]


def measure(runs: Runs) -> ClassUncertainty:
    """Train once, and set each class's uncertainty beside its size and its error rates."""
    run = runs.grouping_run()
    uncertainty = run.class_uncertainty()
    counts = run.class_counts
    errors = {"training": run.class_error("train"), "test": run.class_error("test")}
    indicators = dict(zip(INDICATORS, (uncertainty, 1 / counts, np.sqrt(1 / counts)), strict=True))
    order = np.argsort(-uncertainty, kind="stable")
    return ClassUncertainty(
        data=runs.name,
        method=run.name,
        seed=runs.seed,
        classes=tuple(run.classes[index] for index in order),
        counts=tuple(counts[order].tolist()),
        uncertainty=tuple(uncertainty[order].tolist()),
        training_error=tuple(errors["training"][order].tolist()),
        test_error=tuple(None if np.isnan(each) else float(each) for each in errors["test"][order]),
        correlations=tuple(
            correlation(name, values, which, error)
            for which, error in errors.items()
            for name, values in indicators.items()
        ),
    )


def correlation(
    indicator: str, values: NDArray[np.float64], which: str, error: NDArray[np.float64]
) -> Correlation:
    """Correlate over classes; where either is the same for all classes there is nothing to say.

    >>> correlation("1/n", np.array([0.1, 0.2, 0.3]), "test", np.array([0.0, 0.1, 0.9])).spearman
    1.0
    """
    from scipy.stats import pearsonr, spearmanr

    kept = np.isfinite(error)
    if kept.sum() < 3 or np.ptp(values[kept]) == 0 or np.ptp(error[kept]) == 0:
        return Correlation(indicator, which, None, None)
    rank = float(spearmanr(values[kept], error[kept]).statistic)
    linear = float(pearsonr(values[kept], error[kept]).statistic)
    return Correlation(indicator, which, rank, linear)


@styled
def draw(values: ClassUncertainty) -> Figure:
    """Four panels over the same classes; the errors' panel shows training and test messages."""
    figure = blank(6.4)
    panels = figure.subplots(4, 1, sharex=True)
    index = np.arange(len(values.classes))
    sizes = np.array(values.counts)
    shown: tuple[tuple[str, Sequence[float], str], ...] = (
        ("Class uncertainty (mean over training messages)", values.uncertainty, BLUE),
        ("Error rate (share of the class's messages)", values.training_error, VERMILLION),
        ("1/n (n training messages)", list(1 / sizes), ORANGE),
        ("sqrt(1/n)", list(np.sqrt(1 / sizes)), GREEN),
    )
    for axes, (name, heights, colour) in zip(panels, shown, strict=True):
        axes.bar(index, heights, 0.75, color=colour, label="training messages")
        panel_name(axes, name)
        axes.grid(axis="y")
        if axes is not panels[1]:
            write_values(axes, heights, ".2g")
    panels[1].plot(
        index,
        _gaps(values.test_error),
        "D",
        color=BLACK,
        ms=4 if len(index) <= NAMED_CLASSES else 2.5,
        label="test messages",
        clip_on=False,
    )
    panels[1].legend(
        reverse=True, loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2, borderpad=0
    )
    for axes in panels:
        axes.set_ylim(bottom=0)
    for axes, name in ((panels[0], "uncertainty"), (panels[2], "1/n"), (panels[3], "sqrt(1/n)")):
        axes.set_title(_beside(values, name), loc="right", fontsize=8)
    class_axis(panels[3], values.classes, "most uncertain first")
    figure.suptitle(f"Does uncertainty tell which events are hard? {values.data}, {values.method}")
    return figure


def _beside(values: ClassUncertainty, indicator: str) -> str:
    found = [
        f"{each.error} {text_of(each.spearman, '+.2f')}"
        for each in values.correlations
        if each.indicator == indicator
    ]
    return f"Spearman with error: {', '.join(found)}"


def _gaps(values: tuple[float | None, ...]) -> list[float]:
    """Leave a gap where a class has no test message."""
    return [float("nan") if value is None else value for value in values]


FIGURE = Recipe(measure, draw, model=True)
