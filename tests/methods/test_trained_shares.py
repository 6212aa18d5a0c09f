"""Events that unlabelled messages show to be common: probabilities follow, and nobody peeks."""

import numpy as np
import polars as pl
import pytest

from eventide import EventClassifier, load
from eventide.opinions.prior_shift import estimated_shares, log_shift

QUICK = {"encoder": "tfidf-svd:16", "training__epochs": 4, "training__batch_size": 64}


@pytest.fixture(scope="module")
def few_labels(small_sample):
    """Eight training labels an event; the other training messages are unlabelled."""
    rank = pl.int_range(pl.len()).over("event", "split")
    hidden = (pl.col("split") == "train") & (rank >= 8)
    return small_sample.with_columns(
        event=pl.when(~hidden).then(pl.col("event")),
        split=pl.when(~hidden).then(pl.col("split")),
    )


@pytest.fixture(scope="module")
def model(few_labels):
    return EventClassifier(**QUICK).fit(few_labels)


def shift_of(model):
    return model.method_.objective.log_shift.numpy()


def test_it_is_estimated_from_unlabelled_messages_alone(model, few_labels):
    """Validation and test messages are in the graph as well, and do not count."""
    free = few_labels.filter(pl.col("event").is_null())["id"].to_list()
    rows = np.flatnonzero(model.remembered_["id"].is_in(free))
    assert len(rows) == len(free)
    assert any(f"estimated from {len(free)} unlabelled" in note for note in model.notes_)
    counts = np.bincount(model.labels_[model.labels_ >= 0])
    after, own = model.method_.predict(rows).probability, shift_of(model)
    before = after * np.exp(-own)
    before /= before.sum(axis=1, keepdims=True)
    expected = log_shift(estimated_shares(before, counts / counts.sum()), counts / counts.sum())
    assert np.abs(own).max() > 0.05
    np.testing.assert_allclose(own, expected, atol=1e-6)


def test_the_event_is_the_most_probable_one(model, few_labels):
    said = model.method_.predict(np.arange(len(model.memory_)))
    decided = ~said.undecided
    np.testing.assert_array_equal(said.predicted[decided], said.probability.argmax(1)[decided])


def test_a_saved_model_says_the_same(model, few_labels, tmp_path):
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    new = few_labels.drop("event", "split").head(20).with_columns(id=pl.col("id") + "-new")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_a_new_event_starts_without_a_shift(model, few_labels, tmp_path):
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    new = few_labels.filter(pl.col("split") == "test").head(6)
    new = new.with_columns(id=pl.col("id") + "-new", event=pl.lit("zz-new"), split=pl.lit("train"))
    again.update(new)
    np.testing.assert_array_equal(shift_of(again), [*shift_of(model), 0.0])


@pytest.mark.parametrize("changes", [{}, {"training__estimated_shares": False}])
def test_labels_alone_say_nothing_of_shares(small_sample, few_labels, changes):
    messages = few_labels if changes else small_sample
    assert not shift_of(EventClassifier(**QUICK, **changes).fit(messages)).any()
