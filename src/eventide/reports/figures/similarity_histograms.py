"""How alike messages of one event are, and how alike those of different events, by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import (
    BLUE,
    GREEN,
    SKY,
    blank,
    counted,
    panel_name,
    styled,
    text_of,
)
from eventide.reports.figures.trained_runs import Runs
from eventide.reports.figures.tsne import METHODS_SHOWN
from eventide.scoring.class_groups import GROUPS

Floats = NDArray[np.float64]
INTRA, INTER = "same event", "other events"
DASHED = "mean of the uncertain group"


@dataclass(frozen=True)
class Likeness:
    """One method and one group: for each test message its mean cosine with others."""

    method: str
    group: str
    classes: int
    intra: tuple[float, ...]
    inter: tuple[float, ...]

    @property
    def means(self) -> tuple[float | None, float | None]:
        """Mean of ``intra`` and of ``inter``; None in an empty group."""
        return _mean(self.intra), _mean(self.inter)


@dataclass(frozen=True)
class Similarities(FigureValues):
    """The distributions of every method in every group, on the embeddings of one view."""

    data: str
    seed: int
    view: str
    methods: tuple[str, ...]
    likeness: tuple[Likeness, ...]

    def lines(self) -> list[str]:
        """Means by method and group."""
        head = f"{'method':<14}{'group':<12}{'classes':>8}{'messages':>10}{INTRA:>14}{INTER:>14}"
        return [
            f"mean cosine of a test message with the others, {self.view} view, seed {self.seed}",
            head,
            *(
                f"{each.method:<14}{each.group:<12}{each.classes:>8}{len(each.intra):>10}"
                + "".join(f"{text_of(mean, '.4f', 'empty'):>14}" for mean in each.means)
                for each in self.likeness
            ),
        ]


def measure(runs: Runs) -> Similarities:
    """Compare the test messages of a split with each other, as every method embeds them."""
    groups = runs.groups()
    found = []
    for variant in runs.methods:
        run = runs.fitted(variant)
        truth = run.truth("test")
        intra, inter = mean_cosines(run.embeddings("test", runs.view), truth)
        for group in GROUPS:
            own = np.isin(truth, groups.members(group)) & np.isfinite(intra) & np.isfinite(inter)
            found.append(
                Likeness(
                    run.name,
                    group,
                    len(groups.members(group)),
                    tuple(intra[own].tolist()),
                    tuple(inter[own].tolist()),
                )
            )
    return Similarities(runs.name, runs.seed, runs.view, runs.method_names, tuple(found))


def mean_cosines(unit: Floats, truth: NDArray[Any]) -> tuple[Floats, Floats]:
    """Mean cosine of each message with the others of its event, and with those of other events.

    ``unit`` [n, d] holds unit rows. A mean of cosines is the cosine with a sum of vectors, so that
    no pair is ever formed: exact, and linear in n. NaN where there is no other message.

    >>> unit = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> [each.tolist() for each in mean_cosines(unit, np.array(["a", "a", "b"]))]
    [[1.0, 1.0, nan], [0.0, 0.0, 0.0]]
    """
    _, label, counts = np.unique(truth, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), unit.shape[1]))
    np.add.at(sums, label, unit)
    itself = np.einsum("nd,nd->n", unit, unit)
    own = np.einsum("nd,nd->n", unit, sums[label])
    everyone = unit @ unit.sum(axis=0)
    same, other = counts[label] - 1, len(unit) - counts[label]
    nothing = np.full(len(unit), np.nan)
    intra = np.divide(own - itself, same, out=nothing.copy(), where=same > 0)
    inter = np.divide(everyone - own, other, out=nothing, where=other > 0)
    return intra, inter


@styled
def draw(values: Similarities) -> Figure:
    """Draw rows of groups and columns of methods; dashed: the means of the uncertain group."""
    figure = blank(5.4)
    panels = figure.subplots(
        len(GROUPS), len(values.methods), sharex=True, sharey="row", squeeze=False
    )
    cosines = [x for each in values.likeness for x in (*each.intra, *each.inter)]
    bins = np.linspace(min(cosines, default=0.0), max(cosines, default=1.0) + 1e-9, 41).tolist()
    room = 0.04 * (bins[-1] - bins[0])
    found = {(each.method, each.group): each for each in values.likeness}
    for column, method in enumerate(values.methods):
        for row, group in enumerate(reversed(GROUPS)):
            axes = panels[row, column]
            axes.set_xlim(bins[0] - room, bins[-1] + room)
            _histogram(axes, found[method, group], bins)
            _dashes(axes, found[method, GROUPS[-1]], labelled=row == 0)
            if column == 0:
                size = counted(found[method, group].classes, "class", "classes")
                axes.set_ylabel(f"{group}\n({size})")
        panel_name(panels[0, column], f"{method}\n")  # its second line holds the dashes' values
        panels[-1, column].set_xlabel("mean cosine")
    figure.align_ylabels(panels[:, 0])
    figure.supylabel("share of the group's messages, %", fontsize=9)
    found_labels = {
        label: handle
        for axes in panels.ravel()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(found_labels.values(), found_labels, loc="outside lower center", ncols=3)
    figure.suptitle(
        f"How alike test messages are to their own event and to others:\n{values.data}, "
        f"{values.view} view"
    )
    return figure


def _histogram(axes: Axes, likeness: Likeness, bins: list[float]) -> None:
    axes.grid(axis="y")
    if not likeness.intra:
        axes.text(
            0.5,
            0.5,
            "empty",
            transform=axes.transAxes,
            ha="center",
            style="italic",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            zorder=5,
        )
        axes.set_yticks([])
        return
    share = np.full(len(likeness.intra), 100 / len(likeness.intra))
    axes.hist(likeness.inter, bins, weights=share, color=SKY, label=f"with {INTER}")
    axes.hist(
        likeness.intra, bins, weights=share, color=BLUE, alpha=0.85, label=f"with the {INTRA}"
    )


def _dashes(axes: Axes, uncertain: Likeness, *, labelled: bool) -> None:
    """Draw the means of the uncertain group; their values stand above the panel, clear of bars."""
    low, high = axes.get_xlim()
    means = [mean for mean in uncertain.means if mean is not None]
    apart = means and max(means) - min(means) > (high - low) / 3
    for mean in means:
        axes.axvline(mean, color=GREEN, linestyle="--", linewidth=1.2, label=DASHED)
        if labelled:
            side = "left" if mean == max(means) else "right"
            axes.annotate(
                f"{mean:.2f}",
                (mean, 1.0),
                (0, 2),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                color=GREEN,
                ha="center" if apart else side,
                va="bottom",
                fontsize=8,
            )


def _mean(values: tuple[float, ...]) -> float | None:
    return float(np.mean(values)) if values else None


FIGURE = Recipe(measure, draw, methods=METHODS_SHOWN, views=True, model=True)
