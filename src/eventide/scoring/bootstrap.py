"""Intervals for means, by drawing what was measured again with replacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DRAWS = 4_000
LEVEL = 0.95
AT_ONCE = 2_000_000
"""At most about this many numbers are drawn at a time."""


@dataclass(frozen=True)
class Interval:
    """A measured value and the range that it may as well have."""

    value: float
    low: float
    high: float


def means_apart(ours: Sequence[Floats], theirs: Sequence[Floats], seed: int = 0) -> Interval:
    """Return the mean of ``ours`` less that of ``theirs``; each holds one array per run.

    The runs' values are pooled; a draw takes as many values of every run as it has.

    >>> means_apart([np.array([1.0, 1.0])], [np.array([0.0]), np.array([0.5])])
    Interval(value=0.75, low=0.75, high=0.75)
    """
    generator = np.random.default_rng(seed)
    drawn = _drawn(ours, generator) - _drawn(theirs, generator)
    value = float(np.concatenate(ours).mean() - np.concatenate(theirs).mean())
    return interval(value, drawn)


def interval(value: float, drawn: Floats) -> Interval:
    """Put the middle 95 % of the draws around a value."""
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high))


def _drawn(parts: Sequence[Floats], generator: np.random.Generator) -> Floats:
    """Mean of all parts in each draw [DRAWS]."""
    sums = np.zeros(DRAWS)
    for part in filter(len, parts):
        step = max(1, AT_ONCE // len(part))
        for start in range(0, DRAWS, step):
            count = min(step, DRAWS - start)
            chosen = generator.integers(0, len(part), (count, len(part)))
            sums[start : start + count] += part[chosen].sum(axis=1)
    return sums / sum(map(len, parts))
