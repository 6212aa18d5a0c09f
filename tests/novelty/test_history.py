"""A stream's history: what it keeps, and what the detector and the pool learn from it."""

import numpy as np
import pytest

from eventide.novelty.detector import FALSE_ALARMS, NoveltyDetector
from eventide.novelty.experts import EXPERTS
from eventide.novelty.history import MOST_KNOWN, MOST_NEW, MOST_RECENT, MessageRecord, StreamHistory
from eventide.novelty.signals import SIGNALS
from eventide.opinions.log_pool import LogarithmicPool

S, K = len(SIGNALS), len(EXPERTS)


def came(random, truth, classes):
    """Messages whose second expert knows the class; those of no class look new by every signal."""
    new = truth < 0
    signals = random.normal(0, 1, (len(truth), S)) + 2.0 * new[:, None]
    scores = random.normal(0, 1, (len(truth), classes, K)).astype(np.float32)
    scores[np.flatnonzero(~new), truth[~new], 1] += 4
    return MessageRecord(signals, scores)


@pytest.fixture
def history():
    random = np.random.default_rng(0)
    truth = np.where(random.uniform(size=400) < 0.1, -1, random.integers(0, 3, 400))
    record = came(random, truth, 3)
    # Labels were bought of every second message; class 3 is the one that was not known.
    shown = np.where(np.arange(400) % 2 == 0, np.where(truth < 0, 3, truth), -1)
    return StreamHistory.none(3).joined(record, shown, classes=4), truth


def base():
    ones = np.ones(S)
    known = np.linspace(0.0, 0.2, 50)
    return NoveltyDetector(ones / S, 0.0, np.zeros(S), ones, known)


def test_a_class_that_was_not_known_counts_as_new(history):
    found, truth = history
    assert found.known.sum() == (truth[::2] >= 0).sum()
    assert np.isnan(found.labelled.scores[:, 3]).all()
    assert len(found.recent) == MOST_RECENT


def test_older_messages_make_room(history):
    found, _ = history
    random = np.random.default_rng(1)
    for _ in range(3):
        found = found.joined(came(random, np.full(300, 1), 4), np.full(300, 1), classes=4)
    found = found.joined(came(random, np.full(300, -1), 4), np.full(300, 4), classes=5)
    assert found.known.sum() == MOST_KNOWN
    assert (~found.known).sum() == MOST_NEW
    assert found.labelled.scores.shape[1:] == (5, K)


def test_it_is_saved_and_damage_is_seen(history):
    found, _ = history
    again = StreamHistory.from_state(found.state())
    np.testing.assert_array_equal(again.labelled.signals, found.labelled.signals)
    assert StreamHistory.from_state({}) is None
    with pytest.raises(ValueError, match="events"):
        StreamHistory.from_state(found.state() | {"stream.classes": found.classes + 9})
    with pytest.raises(ValueError, match="signals"):
        StreamHistory.from_state(found.state() | {"stream.signals": found.labelled.signals[1:]})


def test_the_pool_listens_to_the_expert_that_is_right(history):
    found, _ = history
    known = found.known
    pool = LogarithmicPool.fit(found.labelled.scores[known], found.classes[known])
    assert pool.weights.argmax() == 1
    assert (pool.weights >= 0).all()
    random = np.random.default_rng(2)
    truth = random.integers(0, 3, 200)
    told = pool.apply(came(random, truth, 3).scores)
    np.testing.assert_allclose(told.sum(axis=1), 1)
    assert (told.argmax(axis=1) == truth).mean() > 0.9
    assert LogarithmicPool.fit(found.labelled.scores[:5], found.classes[:5]) is None


def test_the_threshold_keeps_false_alarms_where_the_first_days_were_easier(history):
    """The older detector knows easy messages only, and calls most of today's new."""
    found, _ = history
    known = found.known
    pool = LogarithmicPool.fit(found.labelled.scores[known], found.classes[known])
    adapted = base().adapted(found, pool)
    random = np.random.default_rng(3)
    later = came(random, np.where(np.arange(1000) < 500, 0, -1), 4).table(pool)
    called = adapted.novelty(later) > adapted.threshold()
    before = base().novelty(later) > base().threshold()
    assert before[:500].mean() > 0.5
    assert called[:500].mean() < 2 * FALSE_ALARMS
    assert called[500:].mean() > 0.7
    assert adapted.threshold(0.2) < adapted.threshold(0.05)


def test_few_labels_change_little():
    random = np.random.default_rng(4)
    start, pool = StreamHistory.none(3), LogarithmicPool(np.ones(K))
    new = start.joined(came(random, np.full(40, -1), 3), np.full(40, 3), classes=4)
    assert base().adapted(new, pool).threshold() == base().threshold()
    known = start.joined(came(random, np.full(40, 1), 3), np.full(40, 1), classes=3)
    adapted = base().adapted(known, pool)
    np.testing.assert_array_equal(adapted.weights, base().weights)
    assert adapted.threshold() > base().threshold()
