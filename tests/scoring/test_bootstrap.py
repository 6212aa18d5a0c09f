"""The paired bootstrap against plain loops and an enumeration of every resample."""

from itertools import product

import numpy as np
import pytest

from eventide.scoring.bootstrap import means_apart, paired_bootstrap


def by_loops(ours, theirs, draws, seed):
    """Resample messages one by one within each run."""
    rng = np.random.default_rng(seed)
    total = sum(len(run) for run in ours)
    found = []
    for _ in range(draws):
        gained = 0
        for one, other in zip(ours, theirs, strict=True):
            for index in rng.integers(len(one), size=len(one)):
                gained += int(one[index]) - int(other[index])
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
    sums = np.array([step[list(rows)].sum() for rows in product(range(5), repeat=5)])
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


def test_means_apart_covers_the_standard_error():
    generator = np.random.default_rng(1)
    ours, theirs = generator.standard_normal((2, 3, 200))
    found = means_apart(list(ours), list(theirs))
    assert found.value == pytest.approx(ours.mean() - theirs.mean())
    width = 2 * 1.96 * np.sqrt(ours.var() / 600 + theirs.var() / 600)
    assert found.high - found.low == pytest.approx(width, rel=0.1)
