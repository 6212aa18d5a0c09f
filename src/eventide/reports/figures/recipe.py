"""What a figure is made of: numbers that can be printed, and a drawing of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from eventide.reports.figures.runs import Runs


@dataclass(frozen=True)
class Numbers:
    """Everything that a figure shows; a dataclass, so that it can be written as JSON."""

    def lines(self) -> list[str]:
        """Say the same in words and figures."""
        raise NotImplementedError


NumbersT = TypeVar("NumbersT", bound=Numbers)


@dataclass(frozen=True)
class Recipe(Generic[NumbersT]):
    """How a figure comes about: ``measure`` trains and counts, ``draw`` only draws.

    ``methods`` are those shown unless others are asked for; none means that the figure does not
    take any. ``views`` and ``seeds`` say whether it can show another view, or several seeds.
    """

    measure: Callable[[Runs], NumbersT]
    draw: Callable[[NumbersT], Figure]
    methods: tuple[str, ...] = ()
    views: bool = False
    seeds: bool = False
    data: bool = True
