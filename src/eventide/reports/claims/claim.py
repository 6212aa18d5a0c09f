"""What a claim is, and what testing it gives: one link per comparison, and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eventide.comparison import Contestant
from eventide.reports.claims.verdict import (
    MORE,
    UNDECIDED,
    Interval,
    Region,
    Verdict,
    overall,
    verdict,
)

if TYPE_CHECKING:
    from eventide.reports.claims.evidence import Evidence


@dataclass(frozen=True)
class Unit:
    """How a difference is written.

    >>> POINTS.text(Interval(0.012, 0.001, 0.02)), COSINE.text(Interval(-0.1, -0.2, 0.0))
    ('+1.20 points (+0.10 to +2.00)', '-0.1000 (-0.2000 to +0.0000)')
    """

    scale: float
    form: str
    name: str = ""

    def text(self, interval: Interval) -> str:
        """Write a value and its interval."""
        value, low, high = (
            format(self.scale * each, self.form)
            for each in (interval.value, interval.low, interval.high)
        )
        return f"{value}{self.name and ' ' + self.name} ({low} to {high})"


POINTS = Unit(100, "+.2f", "points")
PER_CENT = Unit(100, "+.1f", "%")
RANK = Unit(1, "+.2f")
COSINE = Unit(1, "+.4f")
TINY = Unit(1, "+.2e")


@dataclass(frozen=True)
class Link:
    """One comparison of a claim: the difference, and what it is made of.

    ``difference`` is None where nothing could be measured; ``measured`` then says why.
    """

    compared: str
    difference: Interval | None
    measured: str
    unit: Unit = POINTS
    claimed: Region = MORE

    @property
    def verdict(self) -> Verdict:
        """Where the difference lies; what could not be measured is undecided."""
        if self.difference is None:
            return UNDECIDED
        return verdict(self.difference, self.claimed)

    def text(self) -> str:
        """Write the difference, or that there is none."""
        return "-" if self.difference is None else self.unit.text(self.difference)


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, whom and what it needs, and how it is judged.

    ``contestants`` run as in `eventide compare`; ``looks`` name what must be seen of trained models
    (see `looks.LOOKS`). ``judge`` compares, and never trains.
    """

    says: str
    rule: str
    judge: Callable[[Evidence], Sequence[Link]]
    contestants: tuple[Contestant, ...] = ()
    looks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A claim after its test."""

    name: str
    says: str
    rule: str
    links: tuple[Link, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of all links together."""
        return overall(link.verdict for link in self.links)
