"""A figure is measured values and a drawing of them; make one by name from messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from eventide.model import EventClassifier
    from eventide.reports.figures.trained_runs import Runs
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from eventide.errors import BadSetting
from eventide.experiments import Variant, choose
from eventide.experiments.sources import code_name, commit
from eventide.registry import suggestion
from eventide.reports.figures import FIGURES
from eventide.reports.figures.trained_runs import Runs


@dataclass(frozen=True)
class FigureValues:
    """Everything that a figure shows; a dataclass, so that it can be written as JSON."""

    def lines(self) -> list[str]:
        """Say the same in words and figures."""
        raise NotImplementedError


ValuesT = TypeVar("ValuesT", bound=FigureValues)


@dataclass(frozen=True)
class Recipe(Generic[ValuesT]):
    """How a figure comes about: ``measure`` trains and counts, ``draw`` only draws.

    ``methods`` are those shown unless others are asked for; none means that the figure does not
    take any. ``views`` and ``seeds`` say whether it can show another view, or several seeds,
    ``model`` whether it can be of one model that is trained already.
    """

    measure: Callable[[Runs], ValuesT]
    draw: Callable[[ValuesT], Figure]
    methods: tuple[str, ...] = ()
    views: bool = False
    seeds: bool = False
    data: bool = True
    model: bool = False


@dataclass(frozen=True)
class Made:
    """A figure, and every value that it shows."""

    name: str
    values: FigureValues
    figure: Figure

    code: str = ""
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the values as JSON can hold them, and which code made them."""
        return {"figure": self.name, **asdict(self.values), "code": self.code}


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

    >>> make_figure("architecture").values.lines()[0]
    'messages text, time, hashtags, ... -> co-hashtag (hashtags + urls)'
    """
    seeds = tuple(seeds)
    recipe = check_figure(name, source, methods=methods, seeds=seeds, view=view)
    runs = None
    if recipe.data:
        options |= {} if view is None else {"view": view}
        runs = Runs.of(source, methods or recipe.methods, seeds=seeds, **options)
    values = recipe.measure(runs)  # type: ignore[arg-type]
    regime = runs.regime if runs else ""
    note = f"test messages of the figure: locked messages, {regime}" if regime else ""
    return Made(name, values, recipe.draw(values), code_name([commit()]), note)


def model_figure(
    name: str,
    model: EventClassifier,
    messages: Any = None,
    *,
    view: str | None = None,
    data: str = "",
) -> Made:
    """Measure and draw a figure of a model that is trained already; nothing is trained.

    It is measured on labelled ``messages``, chosen as `eventide evaluate` does, else on the model's
    own validation messages. ``data`` is what titles call it.
    """
    from eventide.reports.figures.model_runs import ModelRuns

    recipe = check_model_figure(name)
    if view is not None and not recipe.views:
        raise _refused(name, "another view")
    runs = ModelRuns.of_model(model, messages, view=view, data=data)
    values = recipe.measure(runs)
    note = "" if runs.what == "test messages" else f"test messages of the figure: {runs.what}"
    return Made(name, values, recipe.draw(values), code_name([commit()]), note)


def check_model_figure(name: str) -> Recipe[Any]:
    """Return the recipe of a figure if it can be of a trained model, else say which can."""
    recipe: Recipe[Any] = FIGURES.load(name)
    if not recipe.model:
        able = [each for each, known in FIGURES.working().items() if known.model]
        raise BadSetting(
            f"the figure {name} shows how training goes, not one model",
            next_step=f"of a model there are: {', '.join(able)}; or leave --model out",
        )
    return recipe


def check_figure(
    name: str,
    source: Any = None,
    *,
    methods: Sequence[str] = (),
    seeds: Sequence[int] = (0,),
    view: str | None = None,
) -> Recipe[Any]:
    """Return the recipe of a figure if it can show what is asked for, else say what it cannot."""
    recipe: Recipe[Any] = FIGURES.load(name)
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
    known = [
        each.name for variant in variants_of(recipe, methods) for each in variant.graph_views()
    ]
    if view is not None and view not in known:
        raise BadSetting(
            f"there is no view {view!r}", next_step=suggestion(view, dict.fromkeys(known))
        )
    return recipe


def variants_of(recipe: Recipe[Any], methods: Sequence[str] = ()) -> tuple[Variant, ...]:
    """Return the variants that a figure shows: those asked for, else its own."""
    shown = methods or recipe.methods
    return choose(",".join(shown)).variants if shown else ()


def _refused(name: str, what: str) -> BadSetting:
    return BadSetting(
        f"the figure {name} cannot show {what}", next_step="leave that option out for it"
    )
