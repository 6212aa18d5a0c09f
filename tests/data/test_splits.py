"""The table of splits: what every verb can ask for."""

import polars as pl
import pytest

from eventide.data.splits import SPLITS, split_groups, split_messages, split_name
from eventide.errors import BadSetting, InputError


def test_seeds_split_differently_and_the_same_again(small_sample):
    one, again, other = (
        split_messages(small_sample, "proportional", seed)["split"] for seed in (1, 1, 2)
    )
    assert one.to_list() == again.to_list() != other.to_list()


@pytest.fixture
def large_events(small_sample):
    """Messages of events that are large enough for the paper's counts."""
    large = small_sample["event"].value_counts().filter(pl.col("count") >= 60)["event"]
    return small_sample.filter(pl.col("event").is_in(large.to_list()))


@pytest.mark.parametrize("name", SPLITS)
def test_the_table_says_whether_the_seed_matters(name, large_events):
    one, other = (split_messages(large_events, name, seed)["split"] for seed in (1, 2))
    assert (one.to_list() != other.to_list()) == SPLITS[name].seeded
    assert {"train", "val", "test"} <= set(one)
    assert SPLITS[name].description


def test_copies_stay_in_one_part(large_events):
    groups = split_groups(large_events, "duplicate-aware")
    split = split_messages(large_events, "duplicate-aware", 3, groups)
    split = split.with_columns(pl.Series("group", groups))
    assert split.group_by("group").agg(pl.col("split").n_unique())["split"].max() == 1
    assert split_groups(large_events, "random") is None


def test_later_messages_are_tested(small_sample):
    split = split_messages(small_sample, "chronological", 0)
    last = split.filter(pl.col("split") == "train").group_by("event").agg(pl.max("created_at"))
    first = split.filter(pl.col("split") == "test").group_by("event").agg(pl.min("created_at"))
    both = last.join(first, on="event")
    assert (both["created_at"] <= both["created_at_right"]).all()


def test_a_stored_split_must_be_there(small_sample):
    assert split_messages(small_sample, "stored", 5) is small_sample
    with pytest.raises(InputError, match="stored split"):
        split_messages(small_sample.with_columns(split=pl.lit(None, pl.String)), "stored", 0)


def test_an_event_can_be_too_small_for_fixed_counts_alone(small_sample):
    with pytest.raises(InputError, match="too few messages") as error:
        split_messages(small_sample, "random", 0)
    assert error.value.next_step.startswith("choose --split proportional, or --split stored")
    kept = split_messages(small_sample, "random", 0, small="train")
    assert kept["split"].null_count() == 0


def test_the_papers_split_has_an_older_name():
    assert split_name("per-class") == "random"
    with pytest.raises(BadSetting, match="there is no split 'rnd'"):
        split_name("rnd")
