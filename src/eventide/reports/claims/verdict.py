"""The one rule behind every verdict: where does an interval lie beside what was claimed?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["confirmed", "not confirmed", "undecided"]
CONFIRMED: Verdict = "confirmed"
NOT_CONFIRMED: Verdict = "not confirmed"
UNDECIDED: Verdict = "undecided"


@dataclass(frozen=True)
class Interval:
    """A measured value and the range that it may as well have."""

    value: float
    low: float
    high: float


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
    """Judge a claim by its parts: all confirmed, or one refuted, or undecided.

    >>> overall(["confirmed", "undecided"]), overall(["undecided", "not confirmed"])
    ('undecided', 'not confirmed')
    """
    found = set(verdicts)
    if NOT_CONFIRMED in found:
        return NOT_CONFIRMED
    return CONFIRMED if found == {CONFIRMED} else UNDECIDED
