"""What a person dismissed is not called new again; what is new stays new."""

import copy

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.errors import InputError
from eventide.model import EventClassifier
from eventide.model.discovery import decide, discover_events, save_candidates
from eventide.novelty.off_topic import OffTopic

QUICK = {"training__epochs": 10, "training__batch_size": 64, "encoder": "wordllama"}
TALK = [
    "buy cheap sunglasses now, huge discount sale today {}",
    "sale on sunglasses: discount code {} for today",
    "cheap sunglasses with discount, order {} today",
]


def offers(first, count):
    rows = [
        {"id": f"offer-{at}", "text": TALK[at % 3].format(at), "created_at": "2024-03-20"}
        for at in range(first, first + count)
    ]
    return pl.DataFrame(rows).with_columns(pl.col("created_at").str.to_datetime(time_zone="UTC"))


@pytest.fixture(scope="module")
def subject(small_sample):
    events = small_sample["event"].value_counts().sort("count", "event")["event"]
    known = small_sample.filter((pl.col("event") != events[-1]) & (pl.col("split") != "test"))
    return EventClassifier(**QUICK).fit(known), small_sample.filter(pl.col("event") == events[-1])


def new(model, messages):
    return (model.opinions(messages)["verdict"] == "new").mean()


def test_dismissed_candidates_teach_the_detector(subject, tmp_path):
    model, unseen = subject
    found = discover_events(model, offers(0, 24))
    assert found.candidates
    decide(found, {}, [each.id for each in found.candidates])
    save_candidates(found, tmp_path / "candidates")
    taught = copy.deepcopy(model)
    report = taught.update(off_topic=str(tmp_path / "candidates" / "dismissed.jsonl"))
    assert report.dismissed == len(found.dismissed()) > 5
    assert (report.remembered, report.learned) == (0, 0)
    later = offers(100, 24)
    assert new(model, later) > 0.8
    assert new(taught, later) < 0.4
    reasons = taught.opinions(later)["reason"]
    assert reasons.str.starts_with("off-topic").any()
    asked = unseen.drop("event", "split")
    assert new(taught, asked) == new(model, asked)
    again = eventide.load(taught.save(tmp_path / "model"))
    assert again.opinions(later).equals(taught.opinions(later))


def test_dismissing_the_same_file_again_changes_nothing():
    """`discover` keeps all dismissed messages in one file, and it is given again every day."""
    vectors = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    once = OffTopic.of(vectors[:30])
    again = once.joined(vectors[:30])
    np.testing.assert_array_equal(again.vectors, once.vectors)
    assert again.least == once.least
    grown = once.joined(vectors)
    assert len(grown.vectors) == 40
    assert grown.least == pytest.approx(OffTopic.of(vectors).least)


def test_off_topic_messages_with_an_event_are_pointed_out(subject):
    model, unseen = subject
    report = copy.deepcopy(model).update(off_topic=unseen.head(3).drop("split"))
    assert report.dismissed == 3
    assert any("have an event" in each for each in report.notes)
    plain = unseen.head(3).drop("event", "split")
    assert not copy.deepcopy(model).update(off_topic=plain).notes


def test_a_model_without_novelty_says_so(small_sample):
    training = small_sample.filter(pl.col("split") == "train")
    model = EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(training)
    with pytest.raises(InputError, match="does not measure novelty"):
        model.update(off_topic=offers(0, 3))
