"""Verdicts of a model: an event that it was not trained on is called new."""

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.errors import BadSetting
from eventide.model import EventClassifier
from eventide.model.label_check import check_labels

QUICK = {"training__epochs": 15, "training__batch_size": 64, "encoder": "tfidf-svd:16"}


@pytest.fixture(scope="module")
def subject(small_sample):
    events = small_sample["event"].value_counts().sort("count", "event")["event"]
    known = small_sample.filter((pl.col("event") != events[-1]) & (pl.col("split") != "test"))
    asked = small_sample.filter((pl.col("event") == events[-1]) | (pl.col("split") == "test"))
    return EventClassifier(**QUICK).fit(known), asked.drop("split"), events[-1]


def test_novelty_ranks_messages_of_an_unseen_event_first(subject, tmp_path):
    from eventide.scoring.metrics import error_auroc

    model, asked, unseen = subject
    opinions = model.opinions(asked)
    new = (asked["event"] == unseen).to_numpy()
    assert error_auroc(new, opinions["novelty"].to_numpy()) > 0.75
    assert set(opinions["verdict"]) <= {"known", "review", "new"}
    assert opinions["reason"].str.len_chars().min() > 0
    model.save(tmp_path / "model")
    assert eventide.load(tmp_path / "model").opinions(asked).equals(opinions)


def test_fewer_false_alarms_call_fewer_messages_new(subject):
    model, asked, _ = subject
    called = [
        (model.opinions(asked, false_alarms=rate)["verdict"] == "new").sum()
        for rate in (0.02, 0.2, 0.6)
    ]
    assert called == sorted(called)
    with pytest.raises(BadSetting, match="false_alarms"):
        model.opinions(asked, false_alarms=0)


def test_a_verdict_does_not_depend_on_the_other_messages(subject):
    model, asked, _ = subject
    whole = model.opinions(asked.head(20))["novelty"].to_numpy()
    alone = np.array([model.opinions(asked[at : at + 1])["novelty"][0] for at in range(5)])
    np.testing.assert_allclose(whole[:5], alone, atol=1e-6)


def test_without_validation_messages_novelty_is_not_measured(small_sample):
    training = small_sample.filter(pl.col("split") == "train")
    model = EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(training)
    opinions = model.opinions(training.head(3))
    assert opinions["novelty"].null_count() == 3
    assert "not measured" in opinions["reason"][0]
    assert set(opinions["verdict"]) <= {"known", "review"}


def test_flipped_labels_are_ranked_first(subject, small_sample):
    model, _, _ = subject
    events = small_sample["event"].unique().sort().to_list()
    flipped = small_sample["id"][::20].to_list()
    other = pl.col("event").replace(dict(zip(events, events[1:] + events[:1], strict=True)))
    told = small_sample.with_columns(
        event=pl.when(pl.col("id").is_in(flipped)).then(other).otherwise(pl.col("event"))
    )
    ranking = check_labels(model, told)
    first = ranking["id"].head(len(told) // 10)
    assert first.is_in(flipped).sum() >= 0.6 * len(flipped)
    assert ranking["suspicion"].drop_nulls().is_sorted(descending=True)
    assert ranking.filter("suspect")["reason"].str.contains("as probable").all()
