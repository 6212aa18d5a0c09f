"""What the network makes of eight events: t-SNE of the embeddings of one view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from eventide.corpus.corpus import Ints
from eventide.experiments.fitted_variant import FittedRun, SplitPart
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import (
    MARKERS,
    SERIES,
    blank,
    panel_name,
    shorten,
    styled,
    text_of,
)
from eventide.reports.figures.trained_runs import Runs

METHODS_SHOWN = ("ce", "hybrid-psc", "bcl", "ucl-ec")
EVENTS = 8
ITERATIONS = 1_000
BACKGROUND = 60
"""At most this many training messages of an event are shown, drawn by the seed."""


@dataclass(frozen=True)
class Map:
    """One method: coordinates in the plane, and how far apart the test messages' events lie.

    ``silhouette`` is measured on the embeddings themselves (cosine), not on the plane: 1 is well
    apart, 0 overlapping, below 0 mixed up.
    """

    method: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    silhouette: float | None


@dataclass(frozen=True)
class Maps(FigureValues):
    """The chosen messages (event and part of the split of each), and a map of them per method."""

    data: str
    seed: int
    view: str
    events: tuple[str, ...]
    event: tuple[str, ...]
    part: tuple[str, ...]
    maps: tuple[Map, ...]

    def lines(self) -> list[str]:
        """Name the events and give each method's separation."""
        tested = self.part.count("test")
        return [
            f"events drawn with seed {self.seed}: {', '.join(self.events)}",
            f"{tested} test messages, {len(self.part) - tested} training messages, "
            f"{self.view} view",
            *(
                f"{each.method:<14}silhouette of the test messages "
                + text_of(each.silhouette, "+.3f")
                for each in self.maps
            ),
        ]


def measure(runs: Runs) -> Maps:
    """Draw the events, train the methods, and lay the same messages out for each."""
    first = runs.fitted(runs.methods[0])
    generator = np.random.default_rng(runs.seed)
    testable = np.unique(first.truth("test"))
    testable = testable[testable < len(first.classes)]
    events = np.sort(generator.choice(testable, min(EVENTS, len(testable)), replace=False))
    rows: dict[SplitPart, Ints] = {
        "train": _some(first.truth("train"), events, generator),
        "test": np.flatnonzero(np.isin(first.truth("test"), events)),
    }
    truth = np.concatenate([first.truth(part)[own] for part, own in rows.items()])
    parts = [part for part, own in rows.items() for _ in own]
    return Maps(
        data=runs.name,
        seed=runs.seed,
        view=runs.view,
        events=tuple(first.classes[event] for event in events),
        event=tuple(first.classes[event] for event in truth),
        part=tuple(parts),
        maps=tuple(
            _map(runs.fitted(each), runs, rows, truth, np.array(parts) == "test")
            for each in runs.methods
        ),
    )


def _some(truth: Ints, events: Ints, generator: np.random.Generator) -> Ints:
    own = (np.flatnonzero(truth == event) for event in events)
    return np.concatenate([generator.permutation(rows)[:BACKGROUND] for rows in own])


def _map(
    run: FittedRun,
    runs: Runs,
    rows: dict[SplitPart, Ints],
    truth: Ints,
    tested: NDArray[np.bool_],
) -> Map:
    from sklearn.manifold import TSNE
    from sklearn.metrics import silhouette_score

    vectors = np.concatenate([run.embeddings(part, runs.view)[own] for part, own in rows.items()])
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    plane = TSNE(
        perplexity=perplexity,
        metric="cosine",
        init="pca",
        max_iter=ITERATIONS,
        random_state=runs.seed,
    ).fit_transform(vectors)
    apart = None
    if 1 < len(np.unique(truth[tested])) < int(tested.sum()):
        apart = float(silhouette_score(vectors[tested], truth[tested], metric="cosine"))
    return Map(run.name, tuple(plane[:, 0].tolist()), tuple(plane[:, 1].tolist()), apart)


@styled
def draw(values: Maps) -> Figure:
    """One panel per method; test messages stand out, training messages lie faintly behind."""
    columns = min(2 if len(values.maps) <= 4 else 3, len(values.maps))
    rows = -(-len(values.maps) // columns)
    figure = blank(1.2 + 6.0 / columns * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    event, tested = np.array(values.event), np.array(values.part) == "test"
    for axes, each in zip(panels, values.maps, strict=False):
        x, y = np.array(each.x), np.array(each.y)
        for index, name in enumerate(values.events):
            own, colour = event == name, SERIES[index]
            axes.scatter(x[own & ~tested], y[own & ~tested], s=5, color=colour, alpha=0.35, lw=0)
            axes.scatter(
                x[own & tested],
                y[own & tested],
                s=22,
                color=colour,
                marker=MARKERS[index],
                edgecolor="black",
                linewidth=0.4,
                label=shorten(name),
            )
        panel_name(axes, f"{each.method}   (silhouette {text_of(each.silhouette, '.2f')})")
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(True)
            spine.set_color("#BBBBBB")
    for axes in panels[len(values.maps) :]:
        axes.set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    figure.suptitle(
        f"t-SNE of the {values.view} view of {len(values.events)} events: {values.data}\n"
        "large: test messages, small: training messages; axes have no unit",
    )
    return figure


FIGURE = Recipe(measure, draw, methods=METHODS_SHOWN, views=True, model=True)
