"""Calibration and validation predictions live with the model, and are applied in one place."""

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.errors import DamagedBundle
from eventide.model import EventClassifier
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.storage import read_bundle
from eventide.storage.replacing import write_bundle

QUICK = {"encoder": "tfidf-svd:8", "training__epochs": 4, "training__batch_size": 64}


@pytest.fixture(scope="module", params=["transductive", "inductive"])
def model(request, small_sample):
    return EventClassifier(method="ucl-ec+cb", protocol=request.param, **QUICK).fit(small_sample)


@pytest.fixture(scope="module")
def test(small_sample):
    return small_sample.filter(split="test")


def uncalibrated(model, messages):
    kept = model.calibration_
    model.calibration_ = ProbabilityCalibration.identity()
    try:
        return model.opinions(messages), model.predict_proba(messages)
    finally:
        model.calibration_ = kept


def test_every_answer_has_calibrated_probabilities_and_the_same_events(model, test):
    assert model.calibration_.kind != "none"
    plain, said = uncalibrated(model, test)
    found, probability = model.opinions(test), model.predict_proba(test)
    np.testing.assert_allclose(probability, model.calibration_.apply(said))
    assert not np.allclose(probability, said)
    assert found["event"].equals(plain["event"])
    for name in ("belief", "vacuity", "dissonance", "conflict", "next_event"):
        assert found[name].equals(plain[name])
    np.testing.assert_allclose(found["doubt"], 1 - probability.max(axis=1), atol=1e-12)
    worst = model.explain(test)
    row = found.filter(id=worst.id).row(0, named=True)
    assert worst.doubt == pytest.approx(row["doubt"]) == pytest.approx(found["doubt"].max())
    assert worst.dissonance == pytest.approx(row["dissonance"])
    report = model.evaluate(test)
    right = (found["event"] == test["event"]).to_numpy()
    assert report.doubt_right == pytest.approx(found["doubt"].to_numpy()[right].mean())


def test_validation_predictions_are_those_of_the_validation_messages(model, small_sample):
    held = small_sample.filter(split="val")
    kept = model.validation_
    assert len(kept) == len(held) == model.calibration_.messages
    assert model.class_names[kept.truth].tolist() == held["event"].to_list()
    _, said = uncalibrated(model, held)
    np.testing.assert_allclose(kept.probability, said, atol=1e-5)
    assert any("calibrated on" in note for note in model.notes_)


def test_an_evaluation_of_validation_messages_is_cross_fitted(model, small_sample):
    report = model.evaluate(small_sample, rows="val")
    kept = model.validation_
    doubt = 1 - kept.calibrated[np.arange(len(kept)), kept.predicted]
    assert report.doubt_right == pytest.approx(doubt[kept.right].mean(), rel=1e-3)
    fitted_on_all = model.calibration_.apply(kept.probability)
    assert np.abs(kept.calibrated - fitted_on_all).max() > 1e-6
    assert any("calibrated by the others" in note for note in report.notes)


def test_all_of_it_is_saved_without_texts_and_forgotten(model, test, small_sample, tmp_path):
    path = model.save(tmp_path / "model")
    loaded = eventide.load(path)
    assert loaded.opinions(test, coverage=0.9).equals(model.opinions(test, coverage=0.9))
    assert loaded.thresholds() == model.thresholds()
    held = small_sample.filter(split="val")
    content = (path / "opinions.safetensors").read_bytes()
    assert not any(text.encode() in content for text in held["text"].to_list())
    known = small_sample.filter(split="train")["id"][0]
    gone = [known, *held["id"].head(3).to_list()]
    loaded.forget(ids=gone)
    assert len(loaded.validation_) == len(held) - 3 == len(loaded.validated_)
    np.testing.assert_array_equal(loaded.validation_.truth, model.validation_.truth[3:])


def test_without_validation_messages_nothing_is_calibrated_and_that_is_said(small_sample, tmp_path):
    messages = small_sample.with_columns(
        split=pl.when(pl.col("split") == "val").then(pl.lit("train")).otherwise("split")
    )
    model = EventClassifier(method="lr-encoder", encoder="tfidf-svd:8").fit(messages)
    assert model.calibration_.kind == "none"
    assert any("not calibrated (no validation messages)" in note for note in model.notes_)
    loaded = eventide.load(model.save(tmp_path / "model"))
    with pytest.raises(eventide.EventideError, match="no validation predictions"):
        loaded.predict_set(messages.head(2))
    with pytest.raises(eventide.EventideError, match="labelled messages"):
        loaded.thresholds()


def test_calibration_that_does_not_fit_the_classes_is_a_damaged_model(model, tmp_path):
    path = model.save(tmp_path / "model")
    bundle = read_bundle(path, "model")
    bundle.arrays["opinions"]["temperature"] = np.array([1.0, 2.0, 3.0])
    texts = {name: content.decode() for name, content in bundle.others.items()}
    write_bundle(path, "model", bundle.facts, bundle.arrays, texts)
    with pytest.raises(DamagedBundle, match="temperatures for 5 classes"):
        eventide.load(path)
