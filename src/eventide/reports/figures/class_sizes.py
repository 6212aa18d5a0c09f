"""How unequal the events are: messages per event, largest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from eventide.data.splits import split_counts
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import (
    BLUE,
    ORANGE,
    SKY,
    blank,
    class_axis,
    counted,
    styled,
    write_values,
)
from eventide.reports.figures.trained_runs import Runs


@dataclass(frozen=True)
class ClassSizes(FigureValues):
    """Messages of each event by part of the split, largest event first.

    ``too_small`` events have all their messages in training.
    """

    data: str
    seed: int
    classes: tuple[str, ...]
    train: tuple[int, ...]
    val: tuple[int, ...]
    test: tuple[int, ...]
    too_small: int = 0

    @property
    def imbalance(self) -> float:
        """Training messages of the largest event over those of the smallest."""
        return max(self.train) / max(1, min(self.train))

    @property
    def apart(self) -> str:
        """Say how many events are too small to be split."""
        return f"{counted(self.too_small, 'event is', 'events are')} too small"

    def lines(self) -> list[str]:
        """One line per event, then the imbalance."""
        table = zip(self.classes, self.train, self.val, self.test, strict=True)
        return [
            f"{'event':<32}{'train':>8}{'val':>8}{'test':>8}",
            *(f"{name:<32}{a:>8,}{b:>8,}{c:>8,}" for name, a, b, c in table),
            f"{len(self.classes)} events; the largest has {self.imbalance:.1f} times as many "
            "training messages as the smallest",
            *([f"{self.apart} for validation and test messages"] if self.too_small else []),
        ]


def measure(runs: Runs) -> ClassSizes:
    """Count the messages of a seed's split."""
    counts = split_counts(runs.messages(small="train"))
    train, val, test = (tuple(counts[part].to_list()) for part in ("train", "val", "test"))
    classes = tuple(counts["event"].to_list())
    too_small = sum(part == (0, 0) for part in zip(val, test, strict=True))
    return ClassSizes(runs.name, runs.seed, classes, train, val, test, too_small)


@styled
def draw(values: ClassSizes) -> Figure:
    """Stacked bars: training at the bottom, validation and test on top."""
    figure = blank(3.6)
    axes = figure.subplots()
    index = np.arange(len(values.classes))
    bottom = np.zeros(len(index))
    parts = (("training", values.train, BLUE), ("validation", values.val, SKY))
    for name, counts, colour in (*parts, ("test", values.test, ORANGE)):
        axes.bar(index, counts, 0.8, bottom=bottom, color=colour, label=name)
        bottom += counts
    write_values(axes, bottom.tolist(), ",.0f")
    axes.grid(axis="y")
    axes.set_ylabel("messages")
    class_axis(axes, values.classes, "largest first")
    figure.legend(loc="outside lower center", ncols=3)
    apart = f"; {values.apart} to be split" if values.too_small else ""
    axes.set_title(
        f"Messages per event: {values.data}\n{len(index)} events, largest to smallest "
        f"{values.imbalance:.0f} to 1 in training{apart}",
        loc="left",
    )
    return figure


FIGURE = Recipe(measure, draw, model=True)
