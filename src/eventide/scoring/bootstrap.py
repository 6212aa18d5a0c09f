"""The bootstrap: what was measured is drawn again with replacement.

Would other messages of the same kind have given the same difference?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
DRAWS = 4_000
LEVEL = 0.95
AT_ONCE = 2_000_000
"""At most about this many values are drawn at a time."""
SAME_DRAWS = 10_000
MOST_BYTES = 200_000_000
"""Room for draws that are kept: with more than 20,000 messages there are fewer of them."""
DRAWS_AT_ONCE = 500


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


@dataclass(frozen=True)
class Bootstrap:
    """A difference of accuracies, its interval, and the p-value that there is none."""

    difference: float
    low: float
    high: float
    p_value: float
    messages: int


def paired_bootstrap(
    ours: Sequence[Bools],
    theirs: Sequence[Bools],
    *,
    draws: int = 10_000,
    seed: int = 0,
) -> Bootstrap:
    """Compare two methods on the same messages: ``ours[run][message]`` says who was right.

    The difference is the accuracy of ``ours`` less that of ``theirs``, all runs pooled. Each draw
    takes as many messages of every run as it has, with replacement. The p-value is two-sided: twice
    the smaller share of draws at or beyond zero.

    >>> both = np.array([True] * 90 + [False] * 10)
    >>> paired_bootstrap([both], [both]).p_value
    1.0
    >>> paired_bootstrap([np.ones(100, bool)], [both]).difference
    0.1
    """
    rng = np.random.default_rng(seed)
    sums = np.zeros(draws, dtype=np.int64)
    total, gained = 0, 0
    for one, other in zip(ours, theirs, strict=True):
        if one.shape != other.shape:
            raise ValueError(f"runs score {one.shape} and {other.shape} messages")
        won, lost, size = int((one & ~other).sum()), int((other & ~one).sum()), len(one)
        if not size:
            continue
        # Only three kinds of messages differ in what they add, so that a draw is a multinomial.
        kinds = rng.multinomial(size, [won / size, lost / size, 1 - (won + lost) / size], draws)
        sums += kinds[:, 0] - kinds[:, 1]
        total, gained = total + size, gained + won - lost
    if not total:
        raise ValueError("there is no message to compare on")
    beyond = min(int((sums <= 0).sum()), int((sums >= 0).sum()))
    found = interval(gained / total, sums / total)
    p_value = min(1.0, 2 * (beyond + 1) / (draws + 1))
    return Bootstrap(found.value, found.low, found.high, p_value, total)


def same_messages_bootstrap(gains: Floats, scored: Floats) -> Bootstrap:
    """Compare two methods whose runs all tested the same messages, as regimes do.

    `paired_bootstrap` draws messages anew for every run; where runs differ in the seed alone that
    counts a message once per run, and intervals come out too narrow by about the root of the
    number of runs. Here a draw takes the same messages for all runs. The difference is the mean
    over runs.

    ``gains`` [runs, messages] is 1 where ours alone is right, -1 where theirs alone is;
    ``scored`` [runs, messages] is 1 where a message counts.

    >>> same_messages_bootstrap(np.ones((3, 50)), np.ones((3, 50))).low
    1.0
    """
    gains = gains * scored
    if (scored == scored[0]).all():  # the mean over runs is a value of each message
        gains, weights = gains.mean(axis=0, keepdims=True), scored[:1]
    else:
        weights = scored
    value = float((gains.sum(axis=1) / weights.sum(axis=1)).mean())
    counts = drawn_counts(gains.shape[1])
    draws = len(counts)
    drawn = np.empty(draws)
    for start in range(0, draws, DRAWS_AT_ONCE):
        part = counts[start : start + DRAWS_AT_ONCE].astype(np.float64)
        drawn[start : start + DRAWS_AT_ONCE] = _means(part @ gains.T, part @ weights.T)
    found = interval(value, drawn)
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p_value = min(1.0, 2 * (beyond + 1) / (draws + 1))
    return Bootstrap(found.value, found.low, found.high, p_value, gains.shape[1])


@lru_cache(maxsize=2)
def drawn_counts(messages: int) -> NDArray[np.uint8]:
    """Return how often each message is in each draw [draws, messages]; the same for all methods."""
    random = np.random.default_rng(0)
    counts = np.empty((min(SAME_DRAWS, MOST_BYTES // messages), messages), dtype=np.uint8)
    for row in counts:
        row[:] = np.bincount(random.integers(0, messages, messages), minlength=messages)
    return counts


def _means(gained: Floats, counted: Floats) -> Floats:
    """Mean over runs; a run of which a draw holds nothing adds nothing."""
    shares: Floats = np.divide(gained, counted, out=np.zeros_like(gained), where=counted > 0)
    return np.asarray(shares.mean(axis=1))


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
