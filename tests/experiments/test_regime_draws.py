"""Regimes: what is tested, what is learned from, and what never meets."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.data.lock import rule_lock
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.errors import InputError
from eventide.experiments.regime_draws import (
    Pool,
    chronological_regime,
    corrupted_view_regime,
    label_noise_regime,
    random_regime,
    scarce_regime,
    unseen_event_regime,
)
from eventide.experiments.regimes import REGIMES, regime, regime_seeds

SIZES = {"flood": 200, "fire": 80, "quake": 30}
START = dt.datetime(2013, 6, 1, tzinfo=dt.UTC)


def pool_of(sizes=SIZES, unlabelled=0):
    """Messages of events, one an hour, each with two entities of its own event."""
    rows = [
        (f"{event}{at}", f"{event} number {at} " + chr(97 + at % 26) * (5 + at % 17), event, at)
        for event, size in sizes.items()
        for at in range(size)
    ]
    rows += [(f"none{at}", f"nothing known {at * 7919}", None, at) for at in range(unlabelled)]
    frame = pl.DataFrame(rows, schema=["id", "text", "event", "at"], orient="row")
    frame = frame.with_columns(
        created_at=pl.lit(START) + pl.duration(hours=pl.col("at")),
        split=pl.lit(None, pl.String),
        entities=pl.concat_list(
            pl.col("event").fill_null("none"),
            pl.format("{}-{}", pl.col("event").fill_null("none"), pl.col("at") % 5),
        ),
    ).drop("at")
    return Pool(frame, rule_lock(frame).mask, near_duplicate_groups(frame["text"]))


@pytest.fixture(scope="module")
def pool():
    return pool_of(unlabelled=20)


def parts(frame, part):
    return set(frame.filter(pl.col("split") == part)["id"])


@pytest.mark.parametrize("name", [*REGIMES, "scarce-3", "chronological-gap-1"])
def test_locked_messages_are_tested_and_nothing_else_is(name, pool):
    locked = set(pool.messages.filter(pl.Series(pool.tested))["id"])
    frame = regime(name).draw(pool, 1)
    test = parts(frame, "test")
    assert test
    assert test <= locked
    assert not set(frame.filter(pl.col("split") != "test")["id"]) & locked
    assert not set(frame.filter(pl.col("split").is_null())["id"]) & locked
    assert set(frame["event"].drop_nulls().unique()) <= set(SIZES)
    assert frame["id"].is_unique().all()


@pytest.mark.parametrize("name", REGIMES)
def test_a_seed_gives_the_same_draw_whatever_the_order_of_rows(name, pool):
    rows = np.random.default_rng(0).permutation(len(pool.tested))
    columns = ["id", "split", "event"]
    # What is shuffled in place depends on the order of rows, not who is tested or trained on.
    columns = columns[:2] if name == "label-noise-10" else columns
    one = regime(name).draw(pool, 3).select(columns).sort("id")
    if name != "duplicate-aware":  # keeps the first of each group, which depends on the order
        assert one.equals(regime(name).draw(pool.taken(rows), 3).select(columns).sort("id"))
    assert one.equals(regime(name).draw(pool, 3).select(columns).sort("id"))


def test_no_copy_of_a_validation_message_is_trained_on():
    sizes = {"flood": 60, "fire": 40}
    once = pool_of(sizes).messages
    twice = pl.concat([once, once.with_columns(pl.col("id") + "-copy")])
    pool = Pool(twice, rule_lock(twice).mask, near_duplicate_groups(twice["text"]))
    frame = random_regime(pool, 0)
    whose = dict(zip(twice["id"], pool.groups.tolist(), strict=True))
    groups = {
        part: {whose[each] for each in parts(frame, part)} for part in ("train", "val", "test")
    }
    assert groups["val"]
    assert not groups["val"] & groups["train"]
    assert not groups["test"] & (groups["train"] | groups["val"])


def test_chronological_trains_on_the_past_of_each_event(pool):
    frame = chronological_regime(pool, 0)
    for _, event in frame.group_by("event"):
        times = {
            part: event.filter(pl.col("split") == part)["created_at"]
            for part in ("train", "val", "test")
        }
        assert times["train"].max() < times["val"].min()
        assert times["val"].max() < times["test"].min()


def test_a_gap_keeps_the_first_days_after_training_out(pool):
    frame = chronological_regime(pool, 0, gap_days=1)
    for _, event in frame.group_by("event"):
        learned = event.filter(pl.col("split") == "train")["created_at"].max()
        later = event.filter(pl.col("split") != "train")["created_at"]
        if len(later):
            assert later.min() - learned >= dt.timedelta(days=1)
    untimed = pool.messages.with_columns(created_at=pl.lit(None, pl.Datetime("us", "UTC")))
    with pytest.raises(InputError, match="no time"):
        chronological_regime(Pool(untimed, pool.tested, pool.groups), 0)


@given(st.integers(2, 30), st.integers(0, 5))
def test_scarce_labels_grow_with_the_event_and_pay_for_validation(fewest, seed):
    pool = pool_of()
    frame = scarce_regime(pool, seed, fewest)
    labelled = frame.filter(pl.col("split").is_in(["train", "val"]))
    counts = dict(labelled.group_by("event").len().rows())
    left = pool.messages.filter(~pl.Series(pool.tested))
    available = dict(left.group_by("event").len().rows())
    assert counts["quake"] == min(fewest, available["quake"])
    assert counts["flood"] == min(60, available["flood"])
    assert counts["quake"] <= counts["fire"] <= counts["flood"]
    for event in SIZES:
        own = labelled.filter(pl.col("event") == event)
        assert (own["split"] == "val").sum() == max(1, counts[event] // 4)
    rest = frame.filter(pl.col("split").is_null())
    assert rest["event"].null_count() == len(rest) == len(left) - len(labelled)


def test_corruption_moves_elements_and_keeps_their_number(pool):
    clean, spoilt = random_regime(pool, 2), corrupted_view_regime(pool, 2, percent=50)
    assert clean.drop("entities").equals(spoilt.drop("entities"))
    before, after = clean["entities"].explode(), spoilt["entities"].explode()
    # A message that gets an element which it has already keeps it once.
    assert 0.8 * len(before) < len(after.drop_nulls()) <= len(before)
    moved = (clean["entities"].list.sort() != spoilt["entities"].list.sort()).mean()
    assert 0.4 < moved < 0.95
    assert corrupted_view_regime(pool, 2, percent=0)["entities"].equals(clean["entities"])


def test_noise_spoils_what_is_learned_from_and_never_the_test(pool):
    clean, noisy = random_regime(pool, 2), label_noise_regime(pool, 2, percent=10)
    changed = clean["event"].ne_missing(noisy["event"])
    assert not (changed & (clean["split"] == "test")).any()
    learned = clean["split"].is_in(["train", "val"])
    assert 0.03 < (changed & learned).sum() / learned.sum() < 0.2


def test_every_event_is_unseen_once(pool):
    seeds = regime_seeds(regime("unseen-event"), pool.messages, [0])
    assert seeds == (0, 1, 2)
    for seed, event in zip(seeds, ["flood", "fire", "quake"], strict=True):
        frame = unseen_event_regime(pool, seed)
        assert event not in set(frame.filter(pl.col("split") != "test")["event"])
        assert event in set(frame.filter(pl.col("split") == "test")["event"])


def test_duplicate_aware_keeps_one_of_each_group():
    pool = pool_of()
    frame = regime("duplicate-aware").draw(pool, 0)
    whose = dict(zip(pool.messages["id"], pool.groups.tolist(), strict=True))
    groups = [whose[each] for each in frame["id"]]
    assert len(groups) == len(set(groups)) == len(set(pool.groups.tolist()))
