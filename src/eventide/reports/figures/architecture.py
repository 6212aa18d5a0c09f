"""The method as a diagram: from messages to one opinion, and what each loss term reads."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from eventide.graphs.views import PAPER_VIEWS
from eventide.reports.figures.recipe import FigureValues, Recipe
from eventide.reports.figures.style import BLUE, GREY, ORANGE, SKY, VERMILLION, blank, styled
from eventide.reports.figures.trained_runs import Runs

PLAIN, LOSS, LEARNED = "#FFFFFF", "#FBE3D6", "#DDEEF9"
VIEWS = tuple(view.name for view in PAPER_VIEWS)
LEVELS = dict(zip(VIEWS, (69.0, 53.0, 37.0), strict=True))
"""Height of the middle of each view's lane."""


@dataclass(frozen=True)
class Box:
    """A step: what it is called, its text, its middle, its size, and its colour."""

    name: str
    text: str
    x: float
    y: float
    width: float
    height: float
    colour: str = PLAIN


@dataclass(frozen=True)
class Arrow:
    """What flows from one step to another; ``back`` marks what one epoch tells the next."""

    start: str
    end: str
    text: str = ""
    back: bool = False


@dataclass(frozen=True)
class Diagram(FigureValues):
    """All steps and all arrows."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]

    def lines(self) -> list[str]:
        """Write one line per arrow."""
        told = {box.name: " ".join(box.text.split()) for box in self.boxes}
        return [
            f"{told[arrow.start]} -> {told[arrow.end]}"
            + (f"  ({' '.join(arrow.text.split())})" if arrow.text else "")
            for arrow in self.arrows
        ]


def diagram() -> Diagram:
    """Return UCL and UCL-EC step by step."""
    lanes = [
        box
        for view in PAPER_VIEWS
        for box in (
            Box(
                f"{view.name} view",
                f"co-{view.name}\n({' + '.join(view.columns)})",
                35,
                LEVELS[view.name],
                23,
                11,
            ),
            Box(f"{view.name} vectors", f"vectors\n{view.name}", 78, LEVELS[view.name], 14, 11),
            Box(
                f"{view.name} opinion",
                f"evidence head\n{view.name}",
                100,
                LEVELS[view.name],
                18,
                11,
                LEARNED,
            ),
        )
    ]
    boxes = (
        Box("messages", "messages\ntext, time,\nhashtags, ...", 10, 53, 17, 44),
        *lanes,
        Box(
            "encoder",
            "temporal\ngraph\nnetwork,\n2 layers,\nshared by\nthe views",
            58,
            53,
            15,
            44,
            LEARNED,
        ),
        Box("fusion", "Dempster's\nrule joins\nthe views'\nopinions", 121, 53, 15, 44),
        Box("opinion", "opinion\nbelief per event,\nuncertainty", 150, 53, 21, 18),
        Box(
            "prototypes",
            "prototypes of the events\nUCL: learned in every batch\n"
            "UCL-EC: centroids of every epoch",
            23,
            10,
            41,
            15,
            LEARNED,
        ),
        Box(
            "contrastive",
            "contrastive term (λ2), agreement (λ3)\nnear to the own prototype, away from\n"
            "others by a margin; views alike",
            75.5,
            10,
            48,
            15,
            LOSS,
        ),
        Box(
            "class uncertainty",
            "class uncertainty\nmean over training\nmessages",
            121,
            10,
            24,
            15,
        ),
        Box("error", "error and\ncalibration (λ1)\nterms", 150, 10, 21, 15, LOSS),
    )
    arrows = (
        *(Arrow("messages", f"{view} view") for view in VIEWS),
        *(Arrow(f"{view} view", "encoder") for view in VIEWS),
        *(Arrow("encoder", f"{view} vectors") for view in VIEWS),
        *(Arrow(f"{view} vectors", f"{view} opinion") for view in VIEWS),
        *(Arrow(f"{view} opinion", "fusion") for view in VIEWS),
        Arrow("fusion", "opinion"),
        Arrow(f"{VIEWS[-1]} vectors", "contrastive", "every view"),
        Arrow("prototypes", "contrastive"),
        Arrow("opinion", "error"),
        Arrow("fusion", "class uncertainty", "end of epoch", back=True),
        Arrow("class uncertainty", "contrastive", "margin", back=True),
    )
    return Diagram(boxes, arrows)


def measure(runs: Runs | None = None) -> Diagram:
    """Return the diagram; it needs no data."""
    return diagram()


@styled
def draw(values: Diagram) -> Figure:
    """Draw boxes, arrows and the two modules' frames."""
    figure = blank(4.0)
    axes = figure.subplots()
    axes.set_xlim(0, 162)
    axes.set_ylim(-1.5, 81)
    axes.set_axis_off()
    _module(axes, "Representation adjustment", 0.5, -0.5, 101, 22, SKY)
    _module(axes, "Multi-view classifier", 89, 28, 72.5, 52, ORANGE)
    boxes = {box.name: box for box in values.boxes}
    for box in values.boxes:
        _box(axes, box)
    for arrow in values.arrows:
        _arrow(axes, boxes[arrow.start], boxes[arrow.end], arrow)
    figure.suptitle("UCL and UCL-EC: larger margins for the events the model is less sure of")
    figure.supxlabel(
        "blue: learned weights; red: terms of the loss; dashed: what an epoch tells the next",
        fontsize=8,
    )
    return figure


def _module(
    axes: Axes, name: str, x: float, y: float, width: float, height: float, colour: str
) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x, y), width, height, boxstyle="round,pad=0,rounding_size=2",
            facecolor=colour, alpha=0.16, edgecolor="none", zorder=0,
        )
    )  # fmt: skip
    axes.text(x + 1.5, y + height - 0.8, name, va="top", weight="bold", fontsize=8)


def _box(axes: Axes, box: Box) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (box.x - box.width / 2, box.y - box.height / 2), box.width, box.height,
            boxstyle="round,pad=0,rounding_size=1.5", facecolor=box.colour, edgecolor="black",
            linewidth=0.8, zorder=2,
        )
    )  # fmt: skip
    axes.text(box.x, box.y, box.text, ha="center", va="center", fontsize=7, zorder=3)


def _arrow(axes: Axes, start: Box, end: Box, arrow: Arrow) -> None:
    tail, head = _ends(start, end)
    axes.annotate(
        "",
        head,
        tail,
        arrowprops={
            "arrowstyle": "-|>",
            "color": VERMILLION if arrow.back else GREY,
            "linestyle": "--" if arrow.back else "-",
            "linewidth": 1.0,
            "shrinkA": 0,
            "shrinkB": 0,
        },
        zorder=1,
    )
    if arrow.text:
        upright = tail[0] == head[0]
        axes.text(
            (tail[0] + head[0]) / 2 + (1 if upright else 0),
            (tail[1] + head[1]) / 2 + (0 if upright else 0.8),
            arrow.text,
            color=VERMILLION if arrow.back else BLUE,
            fontsize=7,
            ha="left" if upright else "center",
            va="center" if upright else "bottom",
        )


def _ends(start: Box, end: Box) -> tuple[tuple[float, float], tuple[float, float]]:
    """Join the sides that face each other: level or upright where the smaller box allows it."""
    if abs(end.x - start.x) > (end.width + start.width) / 2:
        side = 1 if end.x > start.x else -1
        left, right = start.x + side * start.width / 2, end.x - side * end.width / 2
        small, large = sorted((start, end), key=lambda box: box.height)
        if abs(small.y - large.y) < large.height / 2:
            return (left, small.y), (right, small.y)
        return (left, start.y), (right, end.y)
    side = 1 if end.y > start.y else -1
    return (
        (start.x, start.y + side * start.height / 2),
        (start.x, end.y - side * end.height / 2),
    )


FIGURE = Recipe(measure, draw, data=False)
