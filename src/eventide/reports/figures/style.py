"""The style of every figure, and how it prints values that may be missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eventide.experiments.results import Spread
from eventide.outputs import check_suffix
from eventide.storage import atomic_file

Asked = ParamSpec("Asked")

# Okabe and Ito (2008), "Color Universal Design".
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#7F7F7F"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, BLACK, YELLOW)
"""Colours of the first, second, ... thing in a figure; yellow last, it is faint on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "xxxx", "----", "\\\\\\\\", "oooo", "++++")
"""A second sign beside colour, for print without it."""


def bar_style(index: int) -> tuple[str, str]:
    """Return colour and hatch of the n-th thing; the pair comes again only after 64 of them.

    >>> bar_style(0) == bar_style(8), bar_style(0)[0] == bar_style(8)[0]
    (False, True)
    """
    turn = index + index // len(SERIES)
    return SERIES[index % len(SERIES)], HATCHES[turn % len(HATCHES)]


WIDTH = 7.2
"""Inches: two columns of a journal page."""
FORMATS = (".png", ".pdf", ".svg")
NAMED_CLASSES = 12
"""With more classes than this there is no room to write the name of each."""

_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "figure.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": "#DDDDDD",
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "eventide",
    "pdf.fonttype": 42,
}


def styled(draw: Callable[Asked, Figure]) -> Callable[Asked, Figure]:
    """Draw with the style of this module, whatever the caller's own settings are."""

    @wraps(draw)
    def drawn(*arguments: Asked.args, **options: Asked.kwargs) -> Figure:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE)
            return draw(*arguments, **options)

    return drawn


def blank(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure; sizes in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> Path:
    """Write a figure; the ending of ``path`` says how. The same figure gives the same bytes."""
    ending = check_suffix(path, FORMATS)
    undated: dict[str, dict[str, str | None]] = {
        ".png": {},
        ".pdf": {"CreationDate": None},
        ".svg": {"Date": None},
    }
    with atomic_file(path, "the figure") as temporary, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure.savefig(temporary, dpi=200, metadata=undated[ending])
    return path


def panel_name(axes: Axes, title: str) -> None:
    """Put a panel's name above its left edge."""
    axes.set_title(title, loc="left")


def write_values(axes: Axes, heights: Sequence[float], form: str) -> None:
    """Write each bar's value above it, where there are few enough bars."""
    if len(heights) > NAMED_CLASSES:
        return
    axes.margins(y=0.15)
    for index, height in enumerate(heights):
        axes.annotate(
            format(height, form),
            (index, height),
            (0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )


def class_axis(axes: Axes, classes: Sequence[str], order: str) -> None:
    """Name the classes under an axis where they fit; otherwise count them by rank."""
    if len(classes) <= NAMED_CLASSES:
        names = [shorten(name) for name in classes]
        axes.set_xticks(range(len(classes)), names, rotation=30, ha="right", rotation_mode="anchor")
        axes.set_xlabel(f"event, {order}")
    else:
        step = 10 if len(classes) > 30 else 5
        ticks = [0, *range(step - 1, len(classes), step)]
        axes.set_xticks(ticks, [str(tick + 1) for tick in ticks])
        axes.set_xlabel(f"rank of the event among {len(classes)}, {order}")
    axes.set_xlim(-0.7, len(classes) - 0.3)


def shorten(name: str, length: int = 26) -> str:
    """Cut a long name.

    >>> shorten("2013_Queensland_floods_and_more", 12)
    '2013_Queens…'
    """
    return name if len(name) <= length else name[: length - 1] + "…"


def text_of(value: float | None, form: str, nothing: str = "undefined") -> str:
    """Format a value, or the word for a missing one.

    >>> text_of(0.123, "+.2f"), text_of(None, ".3f", "empty")
    ('+0.12', 'empty')
    """
    return nothing if value is None else format(value, form)


def percent(spread: Spread | None, nothing: str) -> str:
    """Put a share in percent, with its deviation where there are several runs.

    >>> percent(Spread.of([0.8, 0.9]), "no run"), percent(Spread.of([0.5]), "no run")
    ('85.00 ± 7.07', '50.00')
    """
    if spread is None:
        return nothing
    deviation = "" if spread.deviation is None else f" ± {100 * spread.deviation:.2f}"
    return f"{100 * spread.mean:.2f}{deviation}"


def counted(count: int | str, one: str, many: str) -> str:
    """Put a number before its noun.

    >>> counted(1, "class", "classes"), counted("2 to 3", "class", "classes")
    ('1 class', '2 to 3 classes')
    """
    return f"{count} {one if str(count) == '1' else many}"
