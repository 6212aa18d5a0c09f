"""The pool of experts: it decides events, and nobody is told what its own label taught."""

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.model import load_model
from eventide.model.adviser import Adviser
from eventide.model.explain import explain
from eventide.novelty.experts import EXPERTS, expert_scores
from eventide.opinions.log_pool import FEWEST, LogarithmicPool, cross_pooled

QUICK = {"training__epochs": 2, "encoder": "tfidf-svd:16", "network__layers": (16, 16)}


@pytest.fixture(scope="module")
def pooled(small_sample):
    return eventide.EventClassifier(training__pooled_experts=True, **QUICK).fit(small_sample)


def test_probabilities_are_a_softmax_of_weighted_scores(pooled, small_sample):
    messages = small_sample.filter(pl.col("split") == "test")
    frame = pooled.intake(messages).messages
    ((_, said, corpus),) = pooled.inference.parts(frame, pooled.inference.match(frame).as_new())
    adviser = pooled.inference.advise
    assert isinstance(adviser, Adviser)
    scores = expert_scores(adviser.novelty.evidence(said, corpus, adviser.reference))
    told = adviser(said, corpus)
    for row in range(len(frame)):
        logits = [
            sum(
                weight * float(score)
                for weight, score in zip(
                    adviser.novelty.pool.weights, scores[row, each], strict=True
                )
            )
            for each in range(len(pooled.classes_))
        ]
        powers = np.exp(np.array(logits) - max(logits))
        np.testing.assert_allclose(told.probability[row], powers / powers.sum(), atol=1e-9)
    np.testing.assert_array_equal(told.belief, said.belief)
    np.testing.assert_array_equal(told.predicted, told.probability.argmax(axis=1))


def test_a_saved_model_has_the_same_pool(pooled, small_sample, tmp_path):
    messages = small_sample.filter(pl.col("split") == "test")
    pooled.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_allclose(
        again.predict_proba(messages), pooled.predict_proba(messages), atol=1e-6
    )
    assert any("pool of experts" in note for note in again.notes_)


def test_an_assignment_depends_on_nobody_else_in_the_batch(pooled, small_sample):
    messages = small_sample.filter(pl.col("split") == "test")
    whole = pooled.predict_proba(messages, as_new=True)
    alone = np.concatenate([pooled.predict_proba(messages[at], as_new=True) for at in range(5)])
    np.testing.assert_allclose(whole[:5], alone, atol=1e-6)


def test_explain_says_what_each_expert_adds(pooled, small_sample):
    messages = small_sample.filter(pl.col("split") == "test")
    found = explain(pooled, messages)
    assert list(found.pool.experts) == list(EXPERTS)
    assert sum(found.pool.experts.values()) >= 0  # the assigned event has the largest sum
    assert found.pool.next_event != found.event


def test_without_it_the_network_speaks_alone(small_sample):
    model = eventide.EventClassifier(training__pooled_experts=False, **QUICK).fit(small_sample)
    frame = model.intake(small_sample.head(20)).messages
    match = model.inference.match(frame)
    ((_, said, _),) = model.inference.parts(frame, match)
    np.testing.assert_array_equal(
        model.inference.uncalibrated(frame, match).probability, said.probability
    )
    assert explain(model, small_sample).pool is None


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
