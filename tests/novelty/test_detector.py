"""The detector learns from pseudo-new events what messages of new ones look like."""

from dataclasses import replace

import numpy as np
import pytest

from eventide.methods.method import Prediction
from eventide.novelty.detector import NoveltyDetector
from eventide.novelty.reference import NEAREST, Comparison
from eventide.novelty.signals import FITTED, SIGNALS, MessageEvidence, signal_table
from eventide.novelty.verdicts import judge_messages

CLASSES = 4


def evidence(truth, random):
    """Messages whose every signal knows the class of ``truth``, -1 for a class that there is not."""
    n = len(truth)
    strength = random.gamma(2.0, 0.1, (n, CLASSES)) + 0.05
    cosines = random.uniform(0.1, 0.3, (n, CLASSES))
    own = np.zeros((n, CLASSES), dtype=np.int64)
    unknown = np.ones(n, dtype=np.int64)
    for row, each in enumerate(truth):
        if each >= 0:
            strength[row, each] += random.uniform(3, 9)
            cosines[row, each] = random.uniform(0.6, 0.9)
            own[row, each] = 2
        else:
            unknown[row] = 3
    alpha = strength + 1
    probability = alpha / alpha.sum(axis=1, keepdims=True)
    prediction = Prediction(
        predicted=probability.argmax(axis=1),
        undecided=np.zeros(n, dtype=bool),
        belief=probability,
        probability=probability,
        uncertainty=CLASSES / alpha.sum(axis=1),
        conflict=np.zeros(n),
        views={},
    )
    nearest = np.repeat(cosines[:, :, None], NEAREST, axis=2).astype(np.float32)
    compared = Comparison(nearest, cosines, np.full(n, 3), unknown, own, np.zeros_like(own))
    return MessageEvidence(prediction, compared, np.log(strength))


@pytest.fixture(scope="module")
def fitted():
    labels = np.arange(200) % CLASSES
    return NoveltyDetector.fit(evidence(labels, np.random.default_rng(0)), labels)


def test_messages_of_an_event_never_seen_are_told_apart(fitted):
    truth = np.array([0, 1, 2, 3] * 50 + [-1] * 100)
    novelty = fitted.novelty(signal_table(evidence(truth, np.random.default_rng(1))))
    called = novelty > fitted.threshold(0.05)
    assert called[truth < 0].mean() > 0.9
    assert called[truth >= 0].mean() < 0.12


def test_hiding_a_class_makes_its_messages_look_new(fitted):
    told = evidence(np.zeros(30, dtype=np.int64), np.random.default_rng(2))
    hidden = np.array([False, True, True, True])
    apart = signal_table(told, hidden) - signal_table(told)
    assert (apart.mean(axis=0)[:FITTED] > 0).all(), dict(
        zip(SIGNALS, apart.mean(axis=0), strict=True)
    )


def test_a_smaller_false_alarm_rate_has_a_higher_threshold(fitted):
    rates = [fitted.threshold(rate) for rate in (0.5, 0.2, 0.05, 0.01)]
    assert rates == sorted(rates)
    assert (fitted.weights >= 0).all()


def test_too_few_messages_give_no_detector():
    labels = np.array([0, 1, 2])
    assert NoveltyDetector.fit(evidence(labels, np.random.default_rng(0)), labels) is None


def test_a_detector_is_stored_and_read_back(fitted):
    table = signal_table(evidence(np.array([0, -1]), np.random.default_rng(3)))
    again = NoveltyDetector.from_state(fitted.state())
    np.testing.assert_array_equal(again.novelty(table), fitted.novelty(table))
    with pytest.raises(ValueError, match="signals"):
        NoveltyDetector.from_state(fitted.state() | {"weights": np.zeros(2)})


def test_verdicts_come_with_reasons(fitted):
    told = evidence(np.array([0, -1]), np.random.default_rng(4))
    found = judge_messages(fitted, told, np.array([0.01, 0.6]))
    assert found.verdict.tolist() == ["known", "new"]
    assert found.reason[0] == "fits a known event"
    assert found.reason[1].startswith("new: ")
    doubtful = judge_messages(fitted, told, np.array([0.4, 0.6]))
    assert (doubtful.verdict[0], doubtful.reason[0]) == ("review", "doubt 0.40")


def test_a_signal_that_pseudo_new_events_overrate_gets_no_larger_weight():
    """The network has seen every pseudo-new event: how well it tells them apart proves nothing."""
    labels = np.arange(200) % CLASSES
    seen = evidence(labels, np.random.default_rng(0))
    sure = np.full((200, CLASSES), 1e-6)
    sure[np.arange(200), labels] = 1
    overrated = replace(seen, prediction=replace(seen.prediction, probability=sure))
    names = list(SIGNALS)
    for each in (seen, overrated):
        weights = NoveltyDetector.fit(each, labels).weights
        probe = weights[names.index("probe")]
        assert probe > 0
        assert weights[names.index("entropy")] == pytest.approx(probe)


def test_a_signal_without_any_spread_says_nothing_of_other_messages():
    """Messages without elements validated; one with elements must not look new for that alone."""
    labels = np.arange(200) % CLASSES
    seen = evidence(labels, np.random.default_rng(0))
    nothing = {"elements": np.zeros(200), "unknown": np.zeros(200), "own": np.zeros((200, CLASSES))}
    plain = {name: each.astype(np.int64) for name, each in nothing.items()}
    bare = replace(seen, comparison=replace(seen.comparison, **plain))
    detector = NoveltyDetector.fit(bare, labels)
    told = evidence(labels, np.random.default_rng(1))
    assert (detector.novelty(signal_table(told)) > detector.threshold()).mean() < 0.12
