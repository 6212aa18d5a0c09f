"""Prediction sets of a model: events in the labels' own type, and as a column."""

import numpy as np
import pytest

from eventide.errors import BadSetting
from eventide.model import EventClassifier


@pytest.fixture(scope="module")
def model(small_sample):
    return EventClassifier(method="lr-encoder", encoder="tfidf-svd:4").fit(small_sample)


@pytest.mark.parametrize("kind", ["clustered", "marginal", "class"])
def test_sets_begin_with_the_assigned_event_and_cover_new_messages(model, small_sample, kind):
    test = small_sample.filter(split="test")
    sets = model.predict_set(test, coverage=0.9, kind=kind)
    assigned = model.predict(test)
    assert len(sets) == len(test)
    assert all(each[0] == event for each, event in zip(sets, assigned, strict=True))
    covered = [event in each for each, event in zip(sets, test["event"], strict=True)]
    assert np.mean(covered) > 0.82
    wider = model.predict_set(test, coverage=0.98, kind=kind)
    assert sum(map(len, wider)) >= sum(map(len, sets)) > len(test)


def test_the_column_holds_the_same(model, small_sample):
    test = small_sample.filter(split="test")
    opinions = model.opinions(test, coverage=0.9)
    expected = ["|".join(each) for each in model.predict_set(test, coverage=0.9)]
    assert opinions["set"].to_list() == expected
    assert opinions.drop("set").columns == model.opinions(test).columns


def test_labels_that_are_numbers_stay_numbers(small_sample):
    numbers = small_sample["event"].rank("dense").cast(int).to_list()
    model = EventClassifier(method="lr-encoder", encoder="tfidf-svd:4").fit(small_sample, numbers)
    found = model.predict_set(small_sample.head(2), coverage=0.9)
    assert all(np.issubdtype(each.dtype, np.integer) for each in found)


def test_a_coverage_that_is_no_share_is_refused_before_anything_is_read(model):
    with pytest.raises(BadSetting, match=r"coverage of 1\.5"):
        model.predict_set("no-such-file.csv", coverage=1.5)
