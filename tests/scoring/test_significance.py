"""Both tests against plain loops, an enumeration of every resample, and scipy."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eventide.scoring.significance import corrected_t_test, paired_bootstrap


def by_loops(ours, theirs, draws, seed):
    """Resample messages one by one within each run."""
    rng = np.random.default_rng(seed)
    total = sum(len(run) for run in ours)
    found = []
    for _ in range(draws):
        gained = 0
        for one, other in zip(ours, theirs, strict=True):
            for place in rng.integers(len(one), size=len(one)):
                gained += int(one[place]) - int(other[place])
        found.append(gained / total)
    return np.array(found)


def test_bootstrap_agrees_with_plain_loops():
    rng = np.random.default_rng(3)
    ours = [rng.random(size) < 0.8 for size in (40, 25, 31)]
    theirs = [rng.random(size) < 0.7 for size in (40, 25, 31)]
    result = paired_bootstrap(ours, theirs, draws=40_000)
    draws = by_loops(ours, theirs, 4_000, seed=1)
    pooled = np.concatenate(ours).mean() - np.concatenate(theirs).mean()
    assert result.difference == pytest.approx(pooled)
    assert result.messages == 96
    assert result.low == pytest.approx(np.quantile(draws, 0.025), abs=0.011)
    assert result.high == pytest.approx(np.quantile(draws, 0.975), abs=0.011)
    expected = 2 * min((draws <= 0).mean(), (draws >= 0).mean())
    assert result.p_value == pytest.approx(expected, abs=0.03)


def test_bootstrap_agrees_with_every_possible_resample():
    ours, theirs = np.array([1, 1, 0, 1, 1], bool), np.array([1, 0, 1, 0, 0], bool)
    step = ours.astype(int) - theirs.astype(int)
    sums = np.array([step[list(places)].sum() for places in product(range(5), repeat=5)])
    exact = 2 * min((sums <= 0).mean(), (sums >= 0).mean())
    result = paired_bootstrap([ours], [theirs], draws=200_000)
    assert result.p_value == pytest.approx(exact, abs=0.01)


def test_bootstrap_is_antisymmetric_and_deterministic():
    rng = np.random.default_rng(0)
    one, other = [rng.random(50) < 0.9], [rng.random(50) < 0.6]
    forth, back = paired_bootstrap(one, other), paired_bootstrap(other, one)
    assert forth == paired_bootstrap(one, other)
    assert forth.difference == -back.difference
    assert forth.p_value < 0.01
    assert forth.low > 0 > back.high


def test_bootstrap_refuses_runs_that_do_not_pair():
    with pytest.raises(ValueError, match="score"):
        paired_bootstrap([np.ones(3, bool)], [np.ones(4, bool)])
    with pytest.raises(ValueError, match="no message"):
        paired_bootstrap([], [])


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
