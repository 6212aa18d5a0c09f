"""Shares of events: the estimate against plain loops, what is known of it, and small numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.opinions.prior_shift import estimated_shares, log_shift, shifted


def oracle(probability, labelled, rounds):
    """Expectation maximisation with a message per class as labelled, one number at a time."""
    count, classes = len(probability), len(labelled)
    shares = list(labelled)
    for _ in range(rounds):
        expected = [classes * labelled[c] for c in range(classes)]
        for row in probability:
            weighed = [row[c] * shares[c] / labelled[c] for c in range(classes)]
            for c in range(classes):
                expected[c] += weighed[c] / sum(weighed)
        shares = [each / (count + classes) for each in expected]
    return shares


def draw(random, count, shares, sharpness=2.0):
    """Messages of classes with these shares, and probabilities that are right for equal shares."""
    truth = random.choice(len(shares), size=count, p=shares)
    seen = random.normal(size=(count, len(shares)))
    seen[np.arange(count), truth] += sharpness
    odds = np.exp(sharpness * seen)
    return odds / odds.sum(axis=1, keepdims=True), truth


def test_it_is_expectation_maximisation():
    random = np.random.default_rng(0)
    labelled = np.array([0.5, 0.3, 0.2])
    probability = random.dirichlet([1, 1, 1], size=40)
    expected = oracle(probability.tolist(), labelled.tolist(), 3_000)
    np.testing.assert_allclose(estimated_shares(probability, labelled), expected, atol=1e-6)


def test_true_shares_are_found_and_serve_better():
    random = np.random.default_rng(1)
    shares, equal = np.array([0.7, 0.2, 0.07, 0.03]), np.full(4, 0.25)
    found = estimated_shares(draw(random, 20_000, shares)[0], equal)
    np.testing.assert_allclose(found, shares, atol=0.01)
    probability, truth = draw(random, 20_000, shares)
    moved = shifted(probability, log_shift(found, equal))
    right = (probability.argmax(1) == truth).mean(), (moved.argmax(1) == truth).mean()
    assert right[1] > right[0] + 0.02
    assert abs(moved.max(axis=1).mean() - right[1]) < 0.01  # as sure as it is right


def test_few_messages_change_little():
    equal = np.full(10, 0.1)
    one = np.full((1, 10), 1e-9)
    one[0, 3] = 1.0
    found = estimated_shares(one / one.sum(), equal)
    assert found[3] < 0.2
    assert found.min() > 0.05
    np.testing.assert_allclose(estimated_shares(one[:0], equal), equal)


@given(st.integers(2, 6), st.integers(0, 30), st.integers(0, 10_000))
def test_shares_are_shares_and_shifts_keep_probabilities(classes, count, seed):
    random = np.random.default_rng(seed)
    labelled = random.dirichlet(np.ones(classes))
    probability = random.dirichlet(np.full(classes, 0.3), size=count).reshape(count, classes)
    found = estimated_shares(probability, labelled)
    assert found.min() > 0
    assert found.sum() == pytest.approx(1)
    moved = shifted(probability, log_shift(found, labelled))
    np.testing.assert_allclose(moved.sum(axis=1), 1)
    back = shifted(moved, -log_shift(found, labelled))
    np.testing.assert_allclose(back, probability, atol=1e-9)


def test_a_class_without_labels_stays_as_it_is():
    labelled = np.array([0.5, 0.5, 0.0])
    found = estimated_shares(np.array([[0.8, 0.2, 0.0]] * 50), labelled)
    assert np.isfinite(found).all()
    assert log_shift(found, labelled)[2] == 0
