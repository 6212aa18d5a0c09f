"""A model that keeps learning: it remembers exactly, learns without forgetting, and lets go."""

import copy

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.errors import InputError
from eventide.model import EventClassifier
from eventide.model.update import UpdateReport
from eventide.novelty.experts import EXPERTS

QUICK = {"training__epochs": 15, "training__batch_size": 64, "encoder": "tfidf-svd:16"}


@pytest.fixture(scope="module")
def subject(small_sample):
    """A model that knows four of five events; the messages of the fifth; test messages."""
    events = small_sample["event"].value_counts().sort("count", "event")["event"]
    fifth = events[-1]
    known = small_sample.filter((pl.col("event") != fifth) & (pl.col("split") != "test"))
    test = small_sample.filter((pl.col("event") != fifth) & (pl.col("split") == "test"))
    new = small_sample.filter(pl.col("event") == fifth).drop("split")
    return EventClassifier(**QUICK).fit(known), new, test, known


def unlabelled(frame):
    return frame.with_columns(pl.lit(None, dtype=pl.String).alias("event"))


def test_remembering_in_batches_equals_remembering_at_once(subject):
    model, new, test, _ = subject
    once, batches = copy.deepcopy(model), copy.deepcopy(model)
    assert once.update(unlabelled(new)).remembered == len(new)
    for start in range(0, len(new), 7):
        batches.update(unlabelled(new[start : start + 7]))
    asked = pl.concat([test.drop("split"), new])
    np.testing.assert_allclose(
        once.predict_proba(asked, as_new=True), batches.predict_proba(asked, as_new=True), atol=1e-6
    )
    np.testing.assert_allclose(once.predict_proba(asked), batches.predict_proba(asked), atol=1e-6)


def test_what_is_remembered_equals_a_memory_built_at_once(subject):
    """The same weights beside a memory that was featurised whole say the same."""
    from eventide.corpus.messages import read_messages
    from eventide.methods import METHODS

    model, new, test, known = subject
    updated = copy.deepcopy(model)
    updated.update(unlabelled(new))
    both = pl.concat([known.drop("split"), new])
    memory = model.featuriser_.prepare(read_messages(both, entities="rules").messages)
    method = METHODS.load(model.method)(model.settings_, model.seed)
    method.restore(model.method_.state(), memory)
    asked = model.featuriser_.prepare(read_messages(test, entities="rules").messages)
    np.testing.assert_allclose(
        updated.method_.predict_new(asked).probability,
        method.predict_new(asked).probability,
        atol=1e-6,
    )


def test_a_new_event_is_learned_and_older_ones_are_kept(subject, tmp_path):
    model, new, test, _ = subject
    learning, before = copy.deepcopy(model), model.score(test)
    report = learning.update(new.head(40))
    assert report.new_events == [new["event"][0]]
    assert report.learned == 40
    assert learning.classes_.tolist() == [*model.classes_.tolist(), new["event"][0]]
    assert learning.score(new[40:]) > 0.5
    assert learning.score(test) > before - 0.1
    learning.save(tmp_path / "model")
    again = eventide.load(tmp_path / "model")
    assert again.opinions(test).equals(learning.opinions(test))


def test_a_prototype_alone_knows_the_new_event(subject):
    model, new, test, _ = subject
    learning = copy.deepcopy(model)
    learning.update(new.head(20), steps=0)
    share = (learning.predict(new[20:]) == new["event"][0]).mean()
    stolen = (learning.predict(test) == new["event"][0]).mean()
    assert share > stolen + 0.1
    assert stolen < 0.25


def test_a_corrected_label_is_learned(subject):
    model, _, _, known = subject
    learning = copy.deepcopy(model)
    row = known.filter(pl.col("split") == "train").head(1)
    other = next(each for each in model.classes_ if each != row["event"][0])
    report = learning.update(row.with_columns(event=pl.lit(str(other))), steps=1)
    assert (report.corrected, report.remembered, report.learned) == (1, 0, 0)
    at = learning.remembered_rows(learning.intake(row).messages)[0]
    assert learning.classes_[learning.labels_[at]] == other


def test_older_messages_leave_the_memory(subject):
    model, new, _, known = subject
    ageing = copy.deepcopy(model)
    middle = known["created_at"].sort()[len(known) // 2]
    report = ageing.update(forget_before=middle)
    assert 0 < report.aged < len(known)
    assert len(ageing.memory_) == len(model.memory_) - report.aged == report.memory
    assert len(ageing.validated_) == len(ageing.validation_)
    assert ageing.update(new.head(6), steps=1).new_events == [new["event"][0]]
    with pytest.raises(InputError, match="every message"):
        ageing.update(forget_before="2999-01-01")
    with pytest.raises(InputError, match="not a time"):
        ageing.update(forget_before="yesterday")


def test_a_message_with_another_text_replaces_the_old_one(subject):
    model, _, _, known = subject
    learning = copy.deepcopy(model)
    edited = unlabelled(known.head(1).drop("split")).with_columns(text=pl.lit("quite another text"))
    report = learning.update(edited)
    assert (report.replaced, len(learning.memory_)) == (1, len(model.memory_))
    assert learning.remembered_rows(learning.intake(edited).messages)[0] == len(model.memory_) - 1


def test_logistic_regression_is_updated_too(subject):
    _, new, test, known = subject
    model = EventClassifier(method="lr-encoder", encoder="tfidf-svd:16").fit(known)
    model.update(unlabelled(new.head(10)))
    report = model.update(new[10:50])
    assert report.new_events == [new["event"][0]]
    assert model.score(new[50:]) > 0.5
    assert model.score(test) > 0.5


def test_other_methods_say_that_they_cannot(subject):
    _, new, _, known = subject
    model = EventClassifier(method="nearest-in-time").fit(known)
    with pytest.raises(InputError, match="cannot be updated"):
        model.update(new)


def test_a_report_is_plain():
    assert UpdateReport(remembered=2).as_dict()["remembered"] == 2


def test_labels_that_come_later_test_the_model_and_are_kept(subject, tmp_path):
    """In a stream the history grows, a pool speaks, and both are saved."""
    model, new, test, _ = subject
    learning = copy.deepcopy(model)
    later = test.drop("split").with_columns(pl.col("id") + "-later")
    report = learning.update(later[:40], steps=1)
    assert list(report.experts) == list(EXPERTS)
    found = learning.novelty_
    assert found.history.known.sum() == 40
    assert found.pool is not None
    assert learning.score(later[40:]) > 0.5
    learning.update(new.head(6), steps=1)
    assert (~learning.novelty_.history.known).sum() == 6
    again = eventide.load(learning.save(tmp_path / "model"))
    assert again.opinions(later).equals(learning.opinions(later))
    np.testing.assert_array_equal(again.predict_proba(later), learning.predict_proba(later))


def test_every_tenth_label_of_an_event_validates_whatever_the_batches(subject):
    model, new, _, _ = subject
    learning, before = copy.deepcopy(model), len(model.validated_)
    for start in range(0, 20, 4):
        learning.update(new[start : start + 4], steps=0)
    assert len(learning.validated_) - before == 2


def test_a_model_that_nobody_updates_does_not_find_all_events_out_of_date(subject):
    """The experts' clock stands still after the memory's latest message."""
    model, _, test, _ = subject
    learning = copy.deepcopy(model)
    learning.update(test.drop("split").with_columns(pl.col("id") + "-l")[:40], steps=1)
    asked = test.drop("split")
    late = asked.with_columns(created_at=pl.lit(asked["created_at"].max()))
    later = late.with_columns(pl.col("created_at").dt.offset_by("90d"))
    told = [learning.opinions(each, as_new=True)["novelty"].mean() for each in (late, later)]
    assert told[1] < told[0] + 0.1
