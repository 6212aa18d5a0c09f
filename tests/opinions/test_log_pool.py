"""The pool: its weights, labels that are wrong, and nobody told what its own label taught."""

import numpy as np
import pytest

from eventide.opinions.log_pool import (
    FEWEST,
    PULL,
    LogarithmicPool,
    _Likelihood,
    cross_pooled,
)


def drawn(messages, classes=5, strength=6.0, seed=0):
    """Scores of a good expert and of one that is noise, and the true classes."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, messages)
    good = random.normal(size=(messages, classes))
    good[np.arange(messages), labels] += strength
    return np.stack([good, random.normal(size=good.shape)], axis=2), labels


def flipped(labels, share, classes=5, seed=1):
    """The same labels, a share of them moved to another class."""
    random = np.random.default_rng(seed)
    wrong = random.permutation(len(labels))[: round(share * len(labels))]
    changed = labels.copy()
    changed[wrong] = (labels[wrong] + random.integers(1, classes, len(wrong))) % classes
    return changed, wrong


def test_the_cost_in_plain_loops():
    scores, labels = drawn(12, classes=3)
    weights, share = np.array([0.7, 0.2]), 0.1
    cost = PULL / 2 * ((0.7 - 1) ** 2 + 0.2**2)
    for message in range(12):
        powers = [np.exp(scores[message, each] @ weights) for each in range(3)]
        own = powers[labels[message]] / sum(powers)
        cost -= np.log((1 - share) * own + share * (1 - own) / 2)
    found, slope, over_share = _Likelihood(scores, labels)._cost(weights, share)
    assert found == pytest.approx(cost)
    step = 1e-6
    for at in range(2):
        moved = weights.copy()
        moved[at] += step
        further = _Likelihood(scores, labels)._cost(moved, share)[0]
        assert slope[at] == pytest.approx((further - found) / step, abs=1e-3)
    further = _Likelihood(scores, labels)._cost(weights, share + step)[0]
    assert over_share == pytest.approx((further - found) / step, abs=1e-2)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_the_share_of_wrong_labels_is_found(share):
    scores, labels = drawn(400)
    noisy, _ = flipped(labels, share)
    pool = LogarithmicPool.fit_in_doubt(scores, noisy)
    assert pool.wrong_labels == pytest.approx(share, abs=0.03)
    believing = LogarithmicPool.fit(scores, noisy)
    doubt = [1 - each.apply(scores).max(axis=1).mean() for each in (pool, believing)]
    wrong = (pool.apply(scores).argmax(axis=1) != labels).mean()
    assert abs(doubt[0] - wrong) < abs(doubt[1] - wrong) / 3


@pytest.mark.parametrize("strength", [1.0, 2.0, 4.0, 8.0])
def test_right_labels_are_believed_whatever_the_experts_are_worth(strength):
    scores, labels = drawn(300, strength=strength)
    pool, plain = LogarithmicPool.fit_in_doubt(scores, labels), LogarithmicPool.fit(scores, labels)
    assert pool.wrong_labels == 0
    np.testing.assert_array_equal(pool.weights, plain.weights)


def test_one_wrong_label_is_taken_for_chance():
    scores, labels = drawn(40, strength=3.0)
    noisy, _ = flipped(labels, 1 / 40)
    assert LogarithmicPool.fit_in_doubt(scores, noisy).wrong_labels == 0


def test_nobody_is_told_what_the_own_label_taught():
    """An expert that is random noise looks useful on the messages that it was fitted on alone."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, 24)
    scores = random.normal(size=(24, 4, 6)) * 3
    inside = LogarithmicPool.fit(scores, labels).apply(scores)
    outside = cross_pooled(scores, labels)
    rows = np.arange(24)
    assert np.log(inside[rows, labels]).mean() > np.log(outside[rows, labels]).mean() + 0.05
    assert cross_pooled(scores[: FEWEST + 2], labels[: FEWEST + 2]) is None


def test_few_messages_fit_no_pool():
    scores, labels = drawn(FEWEST - 1)
    assert LogarithmicPool.fit(scores, labels) is None
    assert LogarithmicPool.fit_in_doubt(scores, labels) is None
