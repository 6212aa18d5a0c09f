"""Models on disk: the same answers after loading, nothing readable inside, forgetting works."""

import json

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.classifier import EventClassifier
from eventide.classifier.explanation import explain
from eventide.classifier.forgetting import forget
from eventide.errors import DamagedBundle, InputError

QUICK = {"training__epochs": 3, "training__batch_size": 64, "encoder": "tfidf-svd:32"}


@pytest.fixture(scope="module")
def split_sample(small_sample):
    """The last tenth is kept from the model, so that there are new messages to ask about."""
    known = pl.int_range(pl.len()) % 10 != 9
    return small_sample.filter(known), small_sample.filter(~known)


@pytest.fixture(scope="module", params=["ucl", "ucl-ec", "ce"])
def model(request, split_sample):
    return EventClassifier(method=request.param, **QUICK).fit(split_sample[0])


def test_predictions_after_loading_are_bit_identical(model, split_sample, tmp_path):
    model.save(tmp_path / "model")
    loaded = eventide.load(tmp_path / "model")
    for frame in split_sample:
        np.testing.assert_array_equal(model.predict_proba(frame), loaded.predict_proba(frame))
        assert model.opinions(frame).equals(loaded.opinions(frame))
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_


def test_nothing_readable_is_stored_unless_asked(model, split_sample, tmp_path):
    known = split_sample[0]
    model.save(tmp_path / "private")
    content = b"".join(file.read_bytes() for file in (tmp_path / "private").iterdir())
    for column in ("id", "text"):
        assert not any(value.encode() in content for value in known[column])
    # single words are too short to look for; long author names are not
    authors = {name for name in known["user"].drop_nulls() if len(name) > 7}
    assert authors
    assert not any(name.encode() in content for name in authors)
    manifest = json.loads((tmp_path / "private" / "manifest.json").read_text())
    assert manifest["facts"]["keeps_text"] is False
    assert "salted hashes" in (tmp_path / "private" / "README.md").read_text()

    model.save(tmp_path / "open", keep_text=True)
    content = (tmp_path / "open" / "messages.jsonl").read_text()
    assert known["text"][0] in [json.loads(line)["text"] for line in content.splitlines()]
    assert "in clear" in (tmp_path / "open" / "README.md").read_text()


def test_a_model_saved_without_text_cannot_keep_it_later(model, tmp_path):
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="without text"):
        eventide.load(tmp_path / "model").save(tmp_path / "again", keep_text=True)


def test_a_damaged_model_is_refused(model, tmp_path):
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "weights.safetensors"
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(DamagedBundle, match="weights"):
        eventide.load(tmp_path / "model")


def test_forgetting_an_author_and_an_id(model, split_sample, tmp_path):
    known, new = split_sample
    author = known["user"].drop_nulls().mode()[0]
    theirs = known.filter(pl.col("user") == author)
    other = known.filter(pl.col("user") != author)["id"][0]
    model.save(tmp_path / "model", keep_text=True)
    assert forget(tmp_path / "model", ids=[other], users=[author]) == len(theirs) + 1
    after = eventide.load(tmp_path / "model")
    assert len(after.memory_) == len(known) - len(theirs) - 1
    assert (after.remembered_rows(after.read_messages(theirs)) < 0).all()
    clear = (tmp_path / "model" / "messages.jsonl").read_text()
    assert not any(json.dumps(identity) in clear for identity in [*theirs["id"], other])
    assert np.isfinite(after.predict_proba(new)).all()
    with pytest.raises(InputError, match="no such message"):
        forget(tmp_path / "model", ids=[other])


def test_an_explanation_adds_up(model, split_sample, tmp_path):
    known, new = split_sample
    for frame in (known, new):
        wanted = frame["id"][2]
        found = explain(model, frame, wanted, strongest=10_000)
        opinion = model.opinions(frame).filter(pl.col("id") == wanted).row(0, named=True)
        assert found.event == opinion["event"]
        for view in found.views:
            weights = [each.weight for each in view.strongest]
            assert sum(weights) + view.own_weight == pytest.approx(1, abs=1e-9)
            assert weights == sorted(weights, reverse=True)
            assert view.event == opinion[f"event_{view.view}"]
            assert len(weights) == view.neighbours == opinion[f"neighbours_{view.view}"]
            assert view.uncertainty == pytest.approx(opinion[f"uncertainty_{view.view}"], abs=1e-6)


def test_the_most_uncertain_message_is_explained_by_default(model, split_sample):
    new = split_sample[1]
    opinions = model.opinions(new)
    worst = opinions.sort("uncertainty", descending=True)["id"][0]
    assert explain(model, new).id == worst
