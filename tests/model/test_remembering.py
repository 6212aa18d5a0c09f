"""With a causal graph messages join in flat time: states are computed once, and never again."""

import copy

import numpy as np
import polars as pl
import pytest

import eventide
from eventide.model import EventClassifier

QUICK = {
    "training__epochs": 3,
    "training__batch_size": 64,
    "encoder": "tfidf-svd:16",
    "graph__earlier_only": True,
}


@pytest.fixture(scope="module")
def messages(small_sample):
    return small_sample.drop("split").sort("created_at")


@pytest.fixture(scope="module")
def model(messages):
    return EventClassifier(**QUICK).fit(messages[:250])


def days(messages, count):
    """Repeat messages without labels on ``count`` days after the last one."""
    last = messages["created_at"].max()
    return [
        messages[7 * day % 200 :][: 3 + day % 9].with_columns(
            pl.col("id") + f"-{day}",
            pl.lit(None, dtype=pl.String).alias("event"),
            pl.lit(last).dt.offset_by(f"{day + 1}d").alias("created_at"),
        )
        for day in range(count)
    ]


def close(one, other, asked):
    for as_new in (False, True):
        said = [each.predict_proba(asked, as_new=as_new) for each in (one, other)]
        np.testing.assert_allclose(*said, atol=1e-6)


def test_a_hundred_daily_batches_equal_a_memory_built_at_once(model, messages, tmp_path):
    batches, once = copy.deepcopy(model), copy.deepcopy(model)
    parts = days(messages, 100)
    reports = [batches.update(each) for each in parts]
    assert {each.states for each in reports} == {"kept"}
    assert once.update(pl.concat(parts)).states == "recomputed"  # more messages than it had
    later = messages.with_columns(pl.col("created_at").dt.offset_by("102d"), pl.col("id") + "-new")
    close(batches, once, later)
    kept, whole = batches.method_.memory_states(), once.method_.memory_states()
    assert kept.keys() == whole.keys()
    for name, each in kept.items():
        np.testing.assert_allclose(each, whole[name], atol=1e-5)
    again = eventide.load(batches.save(tmp_path / "model"))
    close(batches, again, later)
    assert again.update(days(later, 1)[0]).states == "kept"


def test_states_of_the_memory_are_not_computed_again(model, messages, monkeypatch):
    growing = copy.deepcopy(model)
    growing.update(days(messages, 1)[0])
    before = growing.method_.memory_states()

    def never(*_):
        raise AssertionError("the whole memory is run again")

    monkeypatch.setattr(type(growing.method_.runner.network), "memory", never)
    for each in days(messages, 4)[1:]:
        growing.update(each)
    growing.opinions(days(messages, 6)[5])
    for name, each in growing.method_.memory_states().items():
        np.testing.assert_array_equal(each[: len(before[name])], before[name])


def test_a_day_that_comes_in_parts_is_exact(model, messages):
    parts, once = copy.deepcopy(model), copy.deepcopy(model)
    several = pl.concat(days(messages, 3)).sample(fraction=1.0, shuffle=True, seed=1)
    day = several.with_columns(created_at=several["created_at"].dt.truncate("1d"))
    for one in sorted(day["created_at"].unique()):
        same = day.filter(pl.col("created_at") == one)
        for half in (same[::2], same[1::2]):
            assert parts.update(half).states == "kept"
    assert once.update(several).states == "kept"  # several days in one batch
    close(parts, once, messages.with_columns(pl.col("created_at").dt.offset_by("9d")))


def test_late_messages_are_counted_and_all_is_computed_again(model, messages):
    late, once = copy.deepcopy(model), copy.deepcopy(model)
    first, second = days(messages, 2)
    late.update(second)
    report = late.update(first)
    assert (report.states, report.late) == ("recomputed", len(first))
    once.update(pl.concat([first, second]))
    close(late, once, messages.with_columns(pl.col("created_at").dt.offset_by("9d")))


def test_the_older_model_stays_as_it_was(model, messages):
    growing = copy.copy(model)
    size, asked = len(model.memory_), days(messages, 3)[2]
    before = model.predict_proba(asked)
    growing.update(days(messages, 1)[0])
    other = copy.copy(model)
    other.update(days(messages, 2)[1])
    assert len(model.memory_) == size < len(growing.memory_)
    np.testing.assert_array_equal(model.predict_proba(asked), before)
    assert growing.remembered_rows(growing.intake(days(messages, 1)[0]).messages)[0] == size
