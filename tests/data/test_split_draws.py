"""Splits: counts, seeds, order of time, groups kept whole."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.split_draws import (
    ClassTooSmall,
    chronological_split,
    per_class_split,
    proportional_split,
)
from eventide.data.splits import split_counts, split_shortfalls
from eventide.errors import BadSetting, InputError

START = datetime(2024, 1, 1, tzinfo=UTC)


def messages(sizes: dict[str | None, int], seed: int = 0) -> pl.DataFrame:
    rows = [
        (f"{event}-{n}", event, START + timedelta(hours=n))
        for event, size in sizes.items()
        for n in range(size)
    ]
    frame = pl.DataFrame(rows, schema=["id", "event", "created_at"], orient="row")
    return frame.sample(fraction=1, shuffle=True, seed=seed)


def parts_by_id(frame: pl.DataFrame) -> dict[str, str | None]:
    return dict(zip(frame["id"], frame["split"], strict=True))


def test_per_class_counts_and_unlabelled_rows():
    frame = messages({"a": 90, "b": 51, None: 7})
    split = per_class_split(frame)
    assert split_counts(split).rows() == [("a", 90, 40, 20, 30), ("b", 51, 1, 20, 30)]
    assert split.filter(pl.col("event").is_null())["split"].null_count() == 7
    assert split.drop("split").equals(frame)


def test_random_splits_depend_on_the_seed_only():
    frame = messages({"a": 90, "b": 60})
    for function in (per_class_split, proportional_split):
        one = parts_by_id(function(frame, seed=5))
        assert one == parts_by_id(function(frame.reverse(), seed=5))
        assert one != parts_by_id(function(frame, seed=6))


def test_every_message_is_drawn_about_equally_often():
    frame = messages({"a": 20})
    drawn = sum(
        (per_class_split(frame, 4, 6, seed=s)["split"] == "test").to_numpy() for s in range(400)
    )
    assert drawn.min() > 80
    assert drawn.max() < 160  # 120 expected, deviation 9


def test_a_class_too_small_is_named_with_its_count():
    frame = messages({"a": 90, "tiny": 50})
    with pytest.raises(ClassTooSmall, match=r"'tiny' \(50\)"):
        per_class_split(frame)
    kept = split_counts(per_class_split(frame, small="train"))
    assert kept.row(1) == ("tiny", 50, 50, 0, 0)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.floats(0, 0.6), st.floats(0, 0.39))
def test_proportional_counts(sizes, validation, test):
    frame = messages({f"e{n}": size for n, size in enumerate(sizes)})
    counts = split_counts(proportional_split(frame, validation, test))
    for _, size, train, val, tested in counts.rows():
        assert train + val + tested == size
        assert train >= 1
        if size < 3:
            assert val == tested == 0
        else:
            assert (val > 0) == (validation > 0)
            assert (tested > 0) == (test > 0)
            # Where the shares leave training less than a message, one part gives it up.
            spared = 1 if size * (1 - validation - test) >= 1 else 2
            assert abs(val - size * validation) <= spared
            assert abs(tested - size * test) <= spared


@pytest.mark.parametrize("shares", [(-0.1, 0.2), (0.5, 0.5), (float("nan"), 0.1)])
def test_shares_out_of_range_are_refused(shares):
    with pytest.raises(BadSetting):
        proportional_split(messages({"a": 5}), *shares)


def test_chronological_parts_follow_each_other():
    split = chronological_split(messages({"a": 50, "b": 10, "c": 2}), 0.1, 0.2)
    assert split_counts(split).rows() == [
        ("a", 50, 35, 5, 10),
        ("b", 10, 7, 1, 2),
        ("c", 2, 2, 0, 0),
    ]
    for _, event in split.group_by("event"):
        ordered = event.sort("created_at")["split"].to_list()
        assert ordered == sorted(ordered, key=["train", "val", "test"].index)


def test_chronological_needs_times():
    frame = messages({"a": 5}).with_columns(
        created_at=pl.when(pl.col("id") == "a-3").then(None).otherwise("created_at")
    )
    with pytest.raises(InputError, match="'a-3'"):
        chronological_split(frame)


def test_a_late_copy_follows_its_original_into_training():
    frame = messages({"a": 10}).sort("id")
    groups = np.arange(10)
    groups[9] = 0  # the last message copies the first
    split = parts_by_id(chronological_split(frame, 0.1, 0.2, keep_together=groups))
    assert split["a-9"] == "train"
    assert split["a-8"] == "test"


@settings(max_examples=60)
@given(st.data())
def test_groups_are_never_divided(data):
    sizes = data.draw(st.lists(st.integers(9, 40), min_size=1, max_size=4))
    frame = messages({f"e{n}": size for n, size in enumerate(sizes)})
    groups = np.array(
        data.draw(st.lists(st.integers(0, 25), min_size=frame.height, max_size=frame.height))
    )
    for split in (
        per_class_split(frame, 3, 5, keep_together=groups),
        proportional_split(frame, 0.2, 0.2, keep_together=groups),
        chronological_split(frame, 0.2, 0.2, keep_together=groups),
    ):
        together = split.with_columns(pl.Series("group", groups)).group_by("group")
        assert together.agg(pl.col("split").n_unique())["split"].max() == 1
        assert split["split"].null_count() == 0
    counts = split_counts(per_class_split(frame, 3, 5, keep_together=groups))
    assert counts["test"].max() <= 5
    assert counts["val"].max() <= 3
    assert counts["train"].min() >= 1


def test_grouped_counts_are_met_exactly_when_they_can_be():
    frame = messages({"a": 60, "b": 55})
    groups = np.arange(frame.height) // 5 * 2  # many groups of 5, some across events
    groups[frame["event"].to_numpy() == "b"] += 1
    split = per_class_split(frame, 20, 30, keep_together=groups)
    asked = per_class_split(frame, 20, 30)
    short = split_shortfalls(split, asked)
    for event, val, val_asked, test, test_asked in short.rows():
        assert event in ("a", "b")
        assert (val_asked, test_asked) == (20, 30)
        assert val + test >= 46  # pieces of 5 can always come this near
    singles = per_class_split(frame, 20, 30, keep_together=np.arange(frame.height))
    assert split_shortfalls(singles, asked).is_empty()


def test_a_class_that_is_one_group_stays_whole_and_is_reported():
    frame = messages({"a": 60})
    split = per_class_split(frame, keep_together=np.zeros(60))
    assert split["split"].unique().to_list() == ["train"]
    assert split_shortfalls(split, per_class_split(frame)).rows() == [("a", 0, 20, 0, 30)]


def test_groups_must_match_the_messages():
    with pytest.raises(BadSetting, match="60 messages"):
        per_class_split(messages({"a": 60}), keep_together=np.zeros(3))
