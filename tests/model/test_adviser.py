"""The pool of experts: it decides events, and nobody is told what its own label taught."""

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.data.sample import sample
from eventide.model import load_model
from eventide.model.adviser import Adviser
from eventide.model.explain import explain
from eventide.novelty.experts import EXPERTS, expert_scores

QUICK = {"training__epochs": 2, "encoder": "tfidf-svd:16", "network__layers": (16, 16)}
GOOD = {"method": "lr-encoder", "training__pooled_experts": True}


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


@pytest.fixture(scope="module")
def misled():
    """A model fitted on the sample with a tenth of its validation labels wrong, and which."""
    messages = sample()
    events = messages["event"].drop_nulls().unique().sort().to_list()
    other = dict(zip(events, [*events[1:], events[0]], strict=True))
    flipped = (pl.col("split") == "val") & (pl.int_range(pl.len()).over("split") % 10 == 0)
    wrong = messages.filter(flipped)["id"].to_list()
    event = pl.when(flipped).then(pl.col("event").replace_strict(other)).otherwise("event")
    return eventide.EventClassifier(**GOOD).fit(messages.with_columns(event=event)), wrong


def test_wrong_validation_labels_do_not_make_it_doubt(misled):
    model, wrong = misled
    messages = sample()
    honest = eventide.EventClassifier(**GOOD).fit(messages)
    kept, test = model.validation_, messages.filter(pl.col("split") == "test")
    held = messages.filter(pl.col("split") == "val")["id"].to_numpy()
    assert set(wrong) == set(held[kept.suspect])
    assert model.calibration_.messages == len(kept) - len(wrong)
    assert honest.inference.advise.wrong_labels == 0
    assert not honest.validation_.suspect.any()
    report, before = model.evaluate(test), honest.evaluate(test)
    assert report.ece < before.ece + 0.02
    assert np.mean([len(each) for each in model.predict_set(test, coverage=0.9)]) < 1.2
    assert any("of the validation labels seem wrong" in note for note in model.notes_)
    assert any("look wrong are left out" in note for note in model.thresholds().notes)


def test_suspect_labels_are_saved(misled, tmp_path):
    model, wrong = misled
    again = load_model(model.save(tmp_path / "model"))
    assert again.validation_.suspect.sum() == len(wrong)
    assert again.inference.advise.wrong_labels == model.inference.advise.wrong_labels > 0
    assert again.thresholds() == model.thresholds()
