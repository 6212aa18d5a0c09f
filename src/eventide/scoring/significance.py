"""Is one method better than another, or was it luck? Two tests, for two kinds of luck.

The paired bootstrap asks about the messages: would other test messages of the same kind have given
the same order? The corrected resampled t-test (Nadeau and Bengio, 2003) asks about the runs: would
other splits and first weights? Its correction is for training sets that overlap between runs, which
makes the plain t-test find differences that are not there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
ENOUGH_RUNS = 10
"""The paper's number of runs; with fewer, deviations and p-values say little."""


@dataclass(frozen=True)
class Bootstrap:
    """A difference of accuracies, its interval, and how often luck alone would turn it round."""

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
    level: float = 0.95,
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
    low, high = np.quantile(sums / total, [(1 - level) / 2, (1 + level) / 2])
    p_value = min(1.0, 2 * (beyond + 1) / (draws + 1))
    return Bootstrap(gained / total, float(low), float(high), p_value, total)


@dataclass(frozen=True)
class CorrectedTTest:
    """The mean difference over runs; nothing can be said (None) of fewer than two runs.

    Where all runs differ by the same amount there is no statistic: p is 0, or 1 for no difference.
    """

    difference: float
    statistic: float | None
    p_value: float | None
    runs: int


def corrected_t_test(differences: Sequence[float], test_to_train: float) -> CorrectedTTest:
    """Test whether the mean of ``differences``, one per run, could be zero.

    ``test_to_train`` is (test messages) / (training messages). t = mean / sqrt((1/k +
    test_to_train) * variance), with k - 1 degrees of freedom.

    >>> round(corrected_t_test([0.1, 0.2, 0.3], 0.0).statistic, 3)
    3.464
    """
    from scipy.stats import t as student

    runs = len(differences)
    mean = math.fsum(differences) / runs if runs else 0.0
    if runs < 2:
        return CorrectedTTest(mean, None, None, runs)
    variance = math.fsum((each - mean) ** 2 for each in differences) / (runs - 1)
    # Equal differences may differ in their last bit, which is no deviation.
    if variance <= (1e-12 * max(abs(mean), 1e-12)) ** 2:
        return CorrectedTTest(mean, None, 1.0 if mean == 0 else 0.0, runs)
    statistic = mean / math.sqrt((1 / runs + test_to_train) * variance)
    p_value = 2 * float(student.sf(abs(statistic), runs - 1))
    return CorrectedTTest(mean, statistic, p_value, runs)
