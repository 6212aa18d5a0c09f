"""From a figure's name and some messages to numbers and a drawing, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from matplotlib.figure import Figure

from eventide.errors import BadSetting
from eventide.reports.figures import FIGURES
from eventide.reports.figures.recipe import Numbers, Recipe
from eventide.reports.figures.runs import Runs


@dataclass(frozen=True)
class Made:
    """A figure, and every number that it shows."""

    name: str
    numbers: Numbers
    figure: Figure

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON can hold them."""
        return {"figure": self.name, **asdict(self.numbers)}


def make_figure(
    name: str,
    source: Any = None,
    *,
    methods: Sequence[str] = (),
    seeds: Iterable[int] = (0,),
    view: str | None = None,
    **options: Any,
) -> Made:
    """Measure and draw the figure called ``name`` (see `FIGURES`) on messages of any kind.

    ``methods`` and ``view`` are the figure's own unless given; ``options`` are those of `Runs`.
    What a figure cannot show is refused, not ignored.

    >>> make_figure("architecture").numbers.lines()[0]
    'messages text, time, hashtags, ... -> co-hashtag (hashtags + urls)'
    """
    recipe: Recipe[Any] = FIGURES.load(name)
    seeds = tuple(seeds)
    if methods and not recipe.methods:
        raise _refused(name, "other methods")
    if view is not None and not recipe.views:
        raise _refused(name, "another view")
    if len(seeds) != 1 and not recipe.seeds:
        raise _refused(name, "several seeds")
    if source is None and recipe.data:
        raise BadSetting(
            f"the figure {name} needs messages",
            next_step=f"name a file or a dataset: eventide figure {name} messages.parquet",
        )
    runs = None
    if recipe.data:
        options |= {} if view is None else {"view": view}
        runs = Runs.of(source, methods or recipe.methods, seeds=seeds, **options)
    numbers = recipe.measure(runs)  # type: ignore[arg-type]
    return Made(name, numbers, recipe.draw(numbers))


def _refused(name: str, what: str) -> BadSetting:
    return BadSetting(
        f"the figure {name} cannot show {what}", next_step="leave that option out for it"
    )
