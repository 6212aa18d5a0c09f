"""Keeping what is certain and looking at the rest: how right is the share that is kept?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Z = 1.96
"""Standard deviations on each side of a 95 % interval."""


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """For each distinct doubt, from the smallest: keeping all messages up to it.

    ``kept`` counts them, ``wrong`` those of them that are wrong; ``coverage`` and ``risk`` are the
    shares.
    """

    doubt: Floats
    kept: NDArray[np.int64]
    wrong: NDArray[np.int64]

    @property
    def coverage(self) -> Floats:
        """Share of all messages that is kept."""
        return self._share(self.kept / max(int(self.kept[-1]), 1) if len(self.kept) else self.kept)

    @property
    def risk(self) -> Floats:
        """Share of the kept messages that is wrong."""
        return self._share(self.wrong / np.maximum(self.kept, 1))

    @staticmethod
    def _share(values: NDArray[Any]) -> Floats:
        return values.astype(np.float64)


def risk_coverage(doubt: Floats, right: Bools) -> RiskCoverage:
    """Order messages by their doubt [n] and count the wrong ones among those kept.

    Messages with the same doubt are kept together: nothing can tell them apart.

    >>> curve = risk_coverage(np.array([0.1, 0.3, 0.3]), np.array([True, True, False]))
    >>> curve.kept.tolist(), curve.wrong.tolist()
    ([1, 3], [0, 1])
    """
    order = np.argsort(doubt, kind="stable")
    ranked, wrong = doubt[order], np.cumsum(~right[order], dtype=np.int64)
    last = np.append(ranked[1:] != ranked[:-1], [True] * (len(ranked) > 0))
    ends = np.flatnonzero(last)
    return RiskCoverage(ranked[ends], ends + 1, wrong[ends])


def aurc(doubt: Floats, right: Bools) -> float:
    """Area under the risk-coverage curve: the mean risk over keeping 1, 2, ... all messages.

    0 is perfect; a doubt that says nothing has the error rate. Messages of equal doubt are taken
    in any order, on average.

    >>> aurc(np.array([0.1, 0.3]), np.array([True, False]))
    0.25
    """
    if not len(doubt):
        return 0.0
    curve = risk_coverage(doubt, right)
    counts = np.diff(curve.kept, prepend=0)
    errors = np.diff(curve.wrong, prepend=0)
    inside = np.arange(1, len(doubt) + 1) - np.repeat(curve.kept - counts, counts)
    expected = np.repeat(curve.wrong - errors, counts) + np.repeat(errors / counts, counts) * inside
    return float((expected / np.arange(1, len(doubt) + 1)).mean())


@dataclass(frozen=True)
class Kept:
    """Messages that may be kept unseen: those with a smaller doubt than ``doubt``."""

    doubt: float
    messages: int
    right: int

    def interval(self) -> tuple[float, float]:
        """Return where the accuracy of kept messages lies, with 95 % confidence (Wilson)."""
        if not self.messages:
            return 0.0, 1.0
        share, weight = self.right / self.messages, Z**2 / self.messages
        centre = share + weight / 2
        reach = Z * np.sqrt(share * (1 - share) / self.messages + weight / (4 * self.messages))
        low, high = (centre - reach) / (1 + weight), (centre + reach) / (1 + weight)
        return float(max(low, 0.0)), float(min(high, 1.0))


def kept_at_accuracy(doubt: Floats, right: Bools, accuracy: float) -> Kept:
    """Keep as many messages as possible so that ``accuracy`` of the kept ones are right.

    None are kept where no share of them is so often right.

    >>> kept_at_accuracy(np.array([0.1, 0.2, 0.5]), np.array([True, True, False]), 0.9)
    Kept(doubt=0.3, messages=2, right=2)
    """
    curve = risk_coverage(doubt, right)
    enough = np.flatnonzero(curve.kept - curve.wrong >= accuracy * curve.kept - 1e-9)
    if not len(enough):
        return Kept(0.0, 0, 0)
    at = int(enough[-1])
    # Where all are kept: nothing is known of a message with far more doubt than any of them.
    last = float(curve.doubt[at])
    above = float(curve.doubt[at + 1]) if at + 1 < len(curve.doubt) else min(1.1 * last, 1.0)
    kept = int(curve.kept[at])
    return Kept(_between(last, above), kept, kept - int(curve.wrong[at]))


def coverage_at_accuracy(doubt: Floats, right: Bools, accuracy: float) -> float:
    """Return the largest share of messages that can be kept at this accuracy.

    >>> round(coverage_at_accuracy(np.array([0.1, 0.2, 0.5]), np.array([1, 1, 0], bool), 0.9), 3)
    0.667
    """
    kept = kept_at_accuracy(doubt, right, accuracy).messages
    return kept / len(doubt) if len(doubt) else 0.0


def _between(low: float, high: float) -> float:
    """Find a short number above ``low`` and at most ``high``, for people to type."""
    for digits in range(1, 17):
        number = float(f"{(low + high) / 2:.{digits}g}")
        if low < number <= high:
            return number
    return float(np.nextafter(low, 1.0)) if high <= low else high
