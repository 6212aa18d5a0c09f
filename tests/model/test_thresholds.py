"""Thresholds of doubt: on the validation predictions of a model, and on labelled messages."""

import numpy as np
import pytest

from eventide.errors import BadSetting
from eventide.model import EventClassifier


@pytest.fixture(scope="module")
def model(small_sample):
    return EventClassifier(method="lr-encoder", encoder="tfidf-svd:4").fit(small_sample)


def test_as_many_are_kept_as_the_accuracy_allows(model, small_sample):
    test = small_sample.filter(split="test")
    found = model.thresholds(0.97, test)
    assert found.messages == len(test)
    assert [row.accuracy for row in found.rows] == [0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995]
    opinions = model.opinions(test)
    right = (opinions["event"] == test["event"]).to_numpy()
    doubt = opinions["doubt"].to_numpy()
    for row in found.rows:
        kept = doubt < row.threshold
        assert row.kept_messages == kept.sum()
        assert row.to_review == (~kept).sum()
        if row.reached:
            assert row.right == pytest.approx(right[kept].mean())
            assert row.low <= row.right >= row.accuracy - 1e-9
        larger = np.unique(doubt[~kept])
        for each in larger:
            assert right[doubt <= each].mean() < row.accuracy
    assert 0 < found.asked.kept < 1
    assert found.sentence().startswith(f"keep {found.asked.kept:.0%}, ")


def test_without_messages_the_validation_predictions_are_asked(model):
    found = model.thresholds(0.9)
    kept = model.validation_
    assert found.messages == len(kept)
    doubt = 1 - kept.calibrated[np.arange(len(kept)), kept.predicted]
    assert found.asked.kept_messages == (doubt < found.asked.threshold).sum()
    assert any("chose the epoch" in note for note in found.notes)


def test_what_cannot_be_reached_is_said(model, small_sample):
    test = small_sample.filter(split="test")
    other = test.with_columns(event=test["event"].reverse())
    wrong = other.filter(other["event"] != test["event"])
    found = model.thresholds(0.99, wrong)
    assert not found.asked.reached
    assert found.asked.to_review == len(wrong)
    assert "99% right cannot be reached" in found.sentence()


@pytest.mark.parametrize("accuracy", [0, -1, 1.01, float("nan")])
def test_an_accuracy_that_is_no_share_is_refused(model, accuracy):
    with pytest.raises(BadSetting, match="accuracy"):
        model.thresholds(accuracy)
