"""Would other splits and initialisations give the same order of two methods?

The corrected resampled t-test (Nadeau and Bengio, 2003) answers for the runs. Its correction is for
training sets that overlap between runs, which makes the plain t-test find differences that are not
there. The paired bootstrap (``scoring.bootstrap``) answers for the test messages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

ENOUGH_RUNS = 10
"""The paper's number of runs; with fewer, deviations and p-values say little."""


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
