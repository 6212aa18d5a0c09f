"""What a claim is, and the one rule behind every verdict: where an interval lies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eventide.experiments import Variant
from eventide.scoring.bootstrap import Interval

if TYPE_CHECKING:
    from eventide.reports.claims.evidence import Evidence


Verdict = Literal["confirmed", "not confirmed", "undecided"]
CONFIRMED: Verdict = "confirmed"
NOT_CONFIRMED: Verdict = "not confirmed"
UNDECIDED: Verdict = "undecided"


@dataclass(frozen=True)
class Region:
    """What a claim allows: values above ``low`` and, where ``high`` is given, below that."""

    low: float = 0.0
    high: float | None = None


MORE = Region()
"""Better, larger, further: the difference is above zero."""


def verdict(interval: Interval, claimed: Region = MORE) -> Verdict:
    """Confirmed inside the claimed region, not confirmed outside it, undecided across its edge.

    >>> verdict(Interval(2, 1, 3)), verdict(Interval(-2, -3, -1)), verdict(Interval(1, -1, 3))
    ('confirmed', 'not confirmed', 'undecided')
    >>> verdict(Interval(0.1, 0, 0.2), Region(-1, 1))
    'confirmed'
    """
    top = math.inf if claimed.high is None else claimed.high
    if claimed.low < interval.low and interval.high < top:
        return CONFIRMED
    if interval.high < claimed.low or interval.low > top:
        return NOT_CONFIRMED
    return UNDECIDED


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the verdict of a claim from its parts: all confirmed, one refuted, or undecided.

    >>> overall(["confirmed", "undecided"]), overall(["undecided", "not confirmed"])
    ('undecided', 'not confirmed')
    """
    found = set(verdicts)
    if NOT_CONFIRMED in found:
        return NOT_CONFIRMED
    return CONFIRMED if found == {CONFIRMED} else UNDECIDED


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
    """One sentence of the paper, what it needs, and how it is tested.

    ``variants`` run as in `eventide compare`; ``probes`` name what must be measured on trained
    models (see `evidence.PROBES`). ``assess`` compares, and never trains.
    """

    says: str
    rule: str
    assess: Callable[[Evidence], Sequence[Link]]
    variants: tuple[Variant, ...] = ()
    probes: tuple[str, ...] = ()


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
