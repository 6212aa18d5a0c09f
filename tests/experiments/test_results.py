"""Means, deviations and pairing over the kept runs."""

import numpy as np
import pytest

from eventide.experiments.results import Spread, pooled_auroc
from eventide.scoring.bootstrap import paired_bootstrap
from eventide.scoring.significance import corrected_t_test


def test_spread_is_mean_and_sample_deviation(compared):
    values = [outcome.test.accuracy for outcome in compared.outcomes("ce")]
    spread = compared.spread("ce", lambda outcome: outcome.test.accuracy)
    assert spread == Spread(np.mean(values), pytest.approx(np.std(values, ddof=1)), 2)
    assert compared.spread("ce", lambda outcome: None) is None
    assert Spread.of([0.5]).deviation is None


def test_the_difference_pairs_runs_by_seed(compared):
    found = compared.difference("ce", "ucl-ec")
    right = {
        name: [np.equal(each.truth, each.predicted) for each in compared.outcomes(name)]
        for name in ("ce", "ucl-ec")
    }
    assert found.bootstrap == paired_bootstrap(right["ce"], right["ucl-ec"])
    sizes = [outcome.messages for outcome in compared.outcomes("ce")]
    expected = corrected_t_test(
        [a.mean() - b.mean() for a, b in zip(right["ce"], right["ucl-ec"], strict=True)],
        sum(size.test for size in sizes) / sum(size.train for size in sizes),
    )
    assert found.t_test.difference == pytest.approx(expected.difference)
    assert found.t_test.p_value == pytest.approx(expected.p_value)
    assert compared.difference("ce", "nobody") is None


def test_the_pooled_auroc_counts_pairs_of_messages_over_all_runs(compared):
    outcomes = compared.outcomes("ce")
    judged = [
        (truth != predicted, uncertainty)
        for each in outcomes
        for truth, predicted, uncertainty in zip(
            each.truth, each.predicted, each.doubt, strict=True
        )
    ]
    wrong = [value for missed, value in judged if missed]
    right = [value for missed, value in judged if not missed]
    wins = sum((w > r) + 0.5 * (w == r) for w in wrong for r in right)
    assert wrong
    assert pooled_auroc(outcomes) == pytest.approx(wins / (len(wrong) * len(right)))
    assert pooled_auroc([]) is None
