"""After forgetting a model answers as one whose memory never held the messages."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eventide
from eventide.corpus.messages import read_messages
from eventide.methods import METHODS
from eventide.model import EventClassifier
from eventide.model.forget import forget

QUICK = {"training__epochs": 2, "training__batch_size": 64, "encoder": "tfidf-svd:16"}


@pytest.fixture(scope="module", params=["ucl-ec", "pp-gcn", "kpgnn"])
def subject(request, small_sample):
    known = small_sample.filter(pl.int_range(pl.len()) % 2 == 0)
    new = small_sample.filter(pl.int_range(pl.len()) % 4 == 1).head(40)
    return EventClassifier(method=request.param, **QUICK).fit(known), known, new


def never_held(model, known, gone, new):
    """Predictions of the same weights beside a memory made of the other messages alone."""
    keep = np.flatnonzero(~known["id"].is_in(gone).to_numpy())
    weights = {
        name: array[keep] if name.startswith("rows.") else array
        for name, array in model.method_.state().items()
    }
    memory = model.featuriser_.prepare(read_messages(known[keep], entities="rules").messages)
    method = METHODS.load(model.method)(model.settings_, model.seed)
    method.restore(weights, memory)
    frame = read_messages(new, entities="rules").messages
    said = method.predict_new(model.featuriser_.prepare(frame)).probability
    return model.calibration_.apply(said)


@settings(max_examples=6)
@given(data=st.data())
def test_forgotten_messages_leave_no_trace_in_the_answers(subject, tmp_path_factory, data):
    """Not even in what their neighbours said: stored states are computed anew."""
    model, known, new = subject
    count = data.draw(st.integers(1, len(known) - 3), label="how many")
    seed = data.draw(st.integers(0, 2**32 - 1), label="which")
    gone = known["id"].sample(count, seed=seed).to_list()
    path = model.save(tmp_path_factory.mktemp("forget") / "model")
    before = eventide.load(path).predict_proba(new)
    assert forget(path, ids=gone) == count
    after = eventide.load(path)
    expected = never_held(model, known, gone, new)
    np.testing.assert_allclose(after.predict_proba(new), expected, atol=1e-6)
    # the states on disk are those of the smaller memory, not what loading made of the old ones
    assert after.method_.memory_states().keys() == model.method_.memory_states().keys()
    if count > len(known) // 2:
        assert np.abs(before - expected).max() > 1e-4  # so the comparison can fail


def test_a_model_at_hand_forgets_as_one_on_disk(subject):
    model, known, new = subject
    gone = known["id"].gather_every(3).to_list()
    other = EventClassifier(method=model.method, **QUICK).fit(known)
    other.predict(new)  # states of the whole memory are there
    assert other.forget(ids=gone) == len(gone)
    np.testing.assert_allclose(
        other.predict_proba(new), never_held(model, known, gone, new), atol=1e-6
    )


def test_an_interrupted_forgetting_leaves_the_model_whole(subject, tmp_path, monkeypatch):
    model, known, new = subject
    path = model.save(tmp_path / "model")
    expected = eventide.load(path).predict_proba(new)

    def fails(*given):
        raise OSError("the disk is full")

    monkeypatch.setattr("eventide.storage.replacing._swap_in", fails)
    with pytest.raises(eventide.EventideError, match="disk is full"):
        forget(path, ids=known["id"].head(5).to_list())
    monkeypatch.undo()
    after = eventide.load(path)
    assert len(after.memory_) == len(known)
    np.testing.assert_array_equal(after.predict_proba(new), expected)
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
