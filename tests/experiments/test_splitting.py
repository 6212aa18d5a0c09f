"""How seeds divide messages."""

import polars as pl
import pytest

from eventide.errors import BadSetting, InputError
from eventide.experiments.splitting import SPLITS, checked_protocol, copies, divided


def test_a_chronological_split_is_inductive():
    assert checked_protocol("chronological", "inductive") == "inductive"
    with pytest.raises(BadSetting, match="inductive"):
        checked_protocol("chronological", "transductive")


@pytest.mark.parametrize(("split", "protocol"), [("no", None), ("random", "no")])
def test_unknown_words_are_refused(split, protocol):
    with pytest.raises(BadSetting, match="there is no"):
        checked_protocol(split, protocol)


def test_seeds_divide_differently_and_the_same_again(small_sample):
    one, again, other = (divided(small_sample, "proportional", s, None)["split"] for s in (1, 1, 2))
    assert one.to_list() == again.to_list() != other.to_list()


def test_copies_stay_on_one_side(small_sample):
    large = small_sample["event"].value_counts().filter(pl.col("count") >= 60)["event"]
    messages = small_sample.filter(pl.col("event").is_in(large.to_list()))
    groups = copies(messages, "duplicate-aware")
    split = divided(messages, "duplicate-aware", 3, groups).with_columns(pl.Series("group", groups))
    assert split.group_by("group").agg(pl.col("split").n_unique())["split"].max() == 1
    assert copies(messages, "random") is None


def test_later_messages_are_tested(small_sample):
    split = divided(small_sample, "chronological", 0, None)
    last = split.filter(pl.col("split") == "train").group_by("event").agg(pl.max("created_at"))
    first = split.filter(pl.col("split") == "test").group_by("event").agg(pl.min("created_at"))
    both = last.join(first, on="event")
    assert (both["created_at"] <= both["created_at_right"]).all()


def test_a_stored_split_must_be_there(small_sample):
    assert divided(small_sample, "stored", 5, None) is small_sample
    with pytest.raises(InputError, match="stored split"):
        divided(small_sample.with_columns(split=pl.lit(None, pl.String)), "stored", 0, None)


def test_every_split_is_explained():
    assert all(SPLITS.values())
