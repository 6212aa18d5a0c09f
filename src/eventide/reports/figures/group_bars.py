"""ACC and F1 of certain, middle and uncertain classes, method by method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eventide.experiments.results import Spread
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import bar_style, blank, counted, panel_name, percent, styled
from eventide.reports.figures.trained_runs import GROUPED_BY, Runs
from eventide.scoring.class_groups import GROUPS, GroupScore, group_scores

METHODS_SHOWN = ("ce", "hybrid-psc", "bcl", "ucl", "ucl-ec")


@dataclass(frozen=True)
class MethodInGroup:
    """How one method does on a group's classes, over the seeds for which the group has any."""

    method: str
    group: str
    accuracy: Spread | None
    f1: Spread | None


@dataclass(frozen=True)
class GroupResults(FigureValues):
    """Every method in every group; ``classes`` and ``messages`` per group, one value per seed."""

    data: str
    seeds: tuple[int, ...]
    methods: tuple[str, ...]
    classes: dict[str, tuple[int, ...]]
    messages: dict[str, tuple[int, ...]]
    edges: tuple[tuple[float, float], ...]
    results: tuple[MethodInGroup, ...]
    grouped_by: str = GROUPED_BY

    def size(self, group: str) -> str:
        """Say how many classes and test messages a group has; a range where seeds differ."""
        if not any(self.classes[group]):
            return "no classes"
        classes = counted(_range(self.classes[group]), "class", "classes")
        return f"{classes}, {_range(self.messages[group])} messages"

    def lines(self) -> list[str]:
        """Sizes first, then ACC and F1 by group and method."""
        return [
            f"groups: thirds of the range of {self.grouped_by}'s training class uncertainty, "
            f"seeds {', '.join(map(str, self.seeds))}",
            *(f"{group}: {self.size(group)}" for group in GROUPS),
            f"{'method':<14}{'group':<12}{'ACC %':>16}{'F1 %':>16}",
            *(
                f"{each.method:<14}{each.group:<12}{percent(each.accuracy, 'empty'):>16}"
                f"{percent(each.f1, 'empty'):>16}"
                for each in self.results
            ),
        ]


def measure(runs: Runs) -> GroupResults:
    """Train every method on every seed's split and score it on the split's groups."""
    found: dict[tuple[str, str], list[GroupScore]] = {}
    sizes: dict[str, list[GroupScore]] = {group: [] for group in GROUPS}
    edges = []
    for seed in runs.seeds:
        groups = runs.groups(seed)
        edges.append(groups.edges)
        for variant in runs.methods:
            run = runs.fitted(variant, seed)
            scores = group_scores(groups, run.truth("test"), run.predict("test").scored_as)
            for each in scores:
                found.setdefault((each.group, variant.name), []).append(each)
        for each in scores:
            sizes[each.group].append(each)
    return GroupResults(
        data=runs.name,
        seeds=tuple(runs.seeds),
        methods=runs.method_names,
        classes={group: tuple(each.classes for each in own) for group, own in sizes.items()},
        messages={group: tuple(each.messages for each in own) for group, own in sizes.items()},
        edges=tuple(edges),
        results=tuple(
            MethodInGroup(
                method,
                group,
                Spread.of([each.accuracy for each in own if each.accuracy is not None]),
                Spread.of([each.f1 for each in own if each.f1 is not None]),
            )
            for (group, method), own in sorted(
                found.items(), key=lambda pair: GROUPS.index(pair[0][0])
            )
        ),
        grouped_by=runs.grouping_run(runs.seed).name,
    )


@styled
def draw(values: GroupResults) -> Figure:
    """Draw two panels of grouped bars; an empty group keeps its room and is marked."""
    figure = blank(3.6)
    panels = figure.subplots(1, 2, sharey=True)
    _bars(panels[0], values, "accuracy")
    _bars(panels[1], values, "f1")
    panel_name(panels[0], "Accuracy, mean over classes")
    panel_name(panels[1], "F1, mean over classes")
    panels[0].set_ylabel("%")
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=min(6, len(values.methods)),
    )
    seeds = "" if len(values.seeds) == 1 else f", {len(values.seeds)} seeds, bars ± deviation"
    figure.suptitle(f"Test results by uncertainty of the class: {values.data}{seeds}")
    return figure


def _bars(axes: Axes, values: GroupResults, measure: str) -> None:
    width = 0.84 / len(values.methods)
    for index, method in enumerate(values.methods):
        own = [each for each in values.results if each.method == method]
        spreads: list[Spread | None] = [getattr(each, measure) for each in own]
        colour, hatch = bar_style(index)
        x = np.arange(len(GROUPS)) + (index - (len(values.methods) - 1) / 2) * width
        axes.bar(
            x,
            [0.0 if each is None else 100 * each.mean for each in spreads],
            width * 0.94,
            yerr=[_deviation(each) for each in spreads] if len(values.seeds) > 1 else None,
            error_kw={"linewidth": 0.8},
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.4,
            label=method,
        )
    for index, group in enumerate(GROUPS):
        if not any(values.classes[group]):
            axes.text(index, 4, "empty", ha="center", style="italic")
    sizes = [values.size(group).replace(", ", "\n") for group in GROUPS]
    axes.set_xticks(
        range(len(GROUPS)), [f"{g}\n{size}" for g, size in zip(GROUPS, sizes, strict=True)]
    )
    axes.set_xlim(-0.55, len(GROUPS) - 0.45)
    axes.set_ylim(0, 105)
    axes.grid(axis="y")


def _deviation(spread: Spread | None) -> float:
    return 100 * (spread.deviation or 0.0) if spread else 0.0


def _range(values: tuple[int, ...]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


FIGURE = Recipe(measure, draw, methods=METHODS_SHOWN, seeds=True, model=True)
