"""Risk and coverage against plain loops, ties and edges included."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.scoring.selective import (
    Kept,
    aurc,
    coverage_at_accuracy,
    kept_at_accuracy,
    risk_coverage,
)

pairs = st.lists(
    st.tuples(st.sampled_from([0.0, 1e-9, 0.1, 0.25, 0.5, 0.9]), st.booleans()), max_size=25
)


def arrays(pairs):
    return np.array([d for d, _ in pairs]), np.array([r for _, r in pairs], dtype=bool)


@given(pairs)
def test_the_curve_against_loops(pairs):
    curve = risk_coverage(*arrays(pairs))
    assert curve.doubt.tolist() == sorted({d for d, _ in pairs})
    for doubt, coverage, risk in zip(curve.doubt, curve.coverage, curve.risk, strict=True):
        kept = [right for d, right in pairs if d <= doubt]
        assert coverage == pytest.approx(len(kept) / len(pairs))
        assert risk == pytest.approx(1 - sum(kept) / len(kept))


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5]), st.booleans()), min_size=1, max_size=6))
def test_aurc_is_the_mean_over_all_orders_of_equals(pairs):
    found = []
    for order in permutations(pairs):
        if [d for d, _ in order] == sorted(d for d, _ in pairs):
            wrong = np.cumsum([not right for _, right in order])
            found.append((wrong / np.arange(1, len(order) + 1)).mean())
    assert aurc(*arrays(pairs)) == pytest.approx(np.mean(found))


@given(pairs, st.floats(0.01, 1))
def test_as_many_as_possible_are_kept(pairs, accuracy):
    doubt, right = arrays(pairs)
    kept = kept_at_accuracy(doubt, right, accuracy)
    below = doubt < kept.doubt
    assert (int(below.sum()), int(right[below].sum())) == (kept.messages, kept.right)
    possible = [0]
    for each in set(doubt.tolist()):
        mine = right[doubt <= each]
        if mine.sum() >= accuracy * len(mine) - 1e-9:
            possible.append(len(mine))
    assert kept.messages == max(possible)
    share = max(possible) / len(pairs) if pairs else 0.0
    assert coverage_at_accuracy(doubt, right, accuracy) == pytest.approx(share)
    low, high = kept.interval()
    if kept.messages:
        assert 0 <= low <= kept.right / kept.messages <= high + 1e-12 <= 1 + 1e-12


def test_an_interval_of_wilson():
    """Known values: 8 of 10 right, 0.490 to 0.943."""
    assert Kept(0.5, 10, 8).interval() == pytest.approx((0.490, 0.943), abs=1e-3)
    assert Kept(0.0, 0, 0).interval() == (0.0, 1.0)


def test_a_wanted_accuracy_that_cannot_be_reached_keeps_nobody():
    assert kept_at_accuracy(np.array([0.1, 0.2]), np.array([False, True]), 0.9).messages == 0


def test_doubts_that_differ_in_the_last_digit_are_told_apart():
    doubt = np.array([0.1, np.nextafter(0.1, 1), 0.3])
    kept = kept_at_accuracy(doubt, np.array([True, False, False]), 0.9)
    assert ((doubt < kept.doubt).sum(), kept.messages) == (1, 1)
