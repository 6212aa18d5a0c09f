"""The corrected t-test against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eventide.scoring.significance import corrected_t_test

values = st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=2, max_size=20)


@given(values)
def test_without_overlap_it_is_the_plain_t_test(differences):
    found = corrected_t_test(differences, 0.0)
    if found.statistic is None:
        assert np.ptp(differences) == 0
        return
    plain = stats.ttest_1samp(differences, 0.0)
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-6, abs=1e-9)
    assert found.p_value == pytest.approx(plain.pvalue, rel=1e-6, abs=1e-9)


@given(values, st.floats(0.01, 1.0))
def test_the_correction_widens_by_the_overlap(differences, share):
    plain, corrected = corrected_t_test(differences, 0.0), corrected_t_test(differences, share)
    if plain.statistic is None:
        assert corrected == plain
        return
    factor = np.sqrt((1 / len(differences)) / (1 / len(differences) + share))
    assert corrected.statistic == pytest.approx(plain.statistic * factor)
    assert corrected.p_value >= plain.p_value


def test_runs_that_say_nothing():
    assert corrected_t_test([0.2], 0.1).p_value is None
    assert corrected_t_test([], 0.1).difference == 0
    assert corrected_t_test([0.0, 0.0], 0.1).p_value == 1
    assert corrected_t_test([0.1, 0.1, 0.1], 0.1).p_value == 0
