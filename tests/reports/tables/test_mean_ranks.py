"""Mean ranks against plain counting."""

import pytest

from eventide.reports.tables.mean_ranks import mean_ranks


def test_the_best_has_rank_one_and_ties_share():
    values = {"a": [0.9, 0.9], "b": [0.9, 0.8], "c": [0.1, 0.7]}
    assert mean_ranks(values) == {"a": 1.25, "b": 1.75, "c": 3.0}
    assert mean_ranks(values, high=False) == {"a": 2.75, "b": 2.25, "c": 1.0}


def test_who_lacks_a_value_has_no_rank_and_takes_none():
    assert mean_ranks({"a": [0.5, 0.5], "b": [0.9, None], "c": [0.4, 0.6]}) == {"a": 1.5, "c": 1.5}
    assert mean_ranks({"a": [None]}) == {}
    assert mean_ranks({"a": []}) == {}


def test_ranks_sum_up_whatever_the_ties():
    values = {name: [float(ord(name) % 3), 1.0, 2.0] for name in "abcdefg"}
    assert sum(mean_ranks(values).values()) == pytest.approx(sum(range(1, 8)))
