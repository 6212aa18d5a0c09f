"""The rule of the benchmark lock: copies together, any order, about a third, at least ten."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.data.lock import Lock, lock_counts, lock_of, rule_lock, without_locked
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.errors import InputError, LockedMessages


def invented(sizes: dict[str | None, int], seed: int = 0, copies: float = 0.3) -> pl.DataFrame:
    """Messages of events with these sizes; some texts are copies of one of the last few."""
    random = np.random.default_rng(seed)
    events = [event for event, size in sizes.items() for _ in range(size)]
    texts: list[str] = []
    for number in range(len(events)):
        if texts and random.random() < copies:
            texts.append("RT @ann: " + texts[-int(random.integers(1, min(5, len(texts)) + 1))])
        else:
            texts.append(f"{number} " + " ".join(map(str, random.integers(1000, 9999, 8))))
    ids = [f"{seed}-{number}" for number in range(len(events))]
    return pl.DataFrame(
        {"id": ids, "text": texts, "event": events},
        schema={"id": pl.String, "text": pl.String, "event": pl.String},
    )


some_messages = st.builds(
    invented,
    st.dictionaries(st.sampled_from(["fire", "flood", "storm", None]), st.integers(0, 60)),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.3, 0.8]),
)


@given(some_messages)
def test_copies_go_together_and_no_event_loses_more_than_half(messages):
    lock = lock_of(messages)
    assert lock.name == "rule-1"
    groups = near_duplicate_groups(messages["text"])
    whole = pl.DataFrame({"group": groups, "locked": lock.mask}).group_by("group").n_unique()
    assert whole["locked"].to_list() == [1] * whole.height
    counts = lock_counts(messages, lock).drop_nulls("event")
    assert (counts["locked"] <= counts["messages"] // 2).all()


@given(some_messages, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(messages, random):
    order = list(range(messages.height))
    random.shuffle(order)
    assert (rule_lock(messages[order]).mask == rule_lock(messages).mask[order]).all()


@pytest.mark.parametrize("seed", range(20))
def test_at_least_ten_of_an_event_that_has_them(seed):
    sizes = {"a": 200, "b": 40, "c": 25, "d": 20, "e": 12, "f": 9, "g": 1}
    messages = invented(sizes, seed, copies=0)
    locked = dict(lock_counts(messages, lock_of(messages)).select("event", "locked").rows())
    assert all(locked[event] >= 10 for event in "abcd")
    assert locked["e"] == 6
    assert locked["f"] <= 4
    assert locked["g"] == 0


def test_about_a_third_whether_or_not_texts_are_copied():
    """The share of messages in large groups is a third too: their hash is that of one id."""
    messages = invented({str(number): 100 for number in range(60)}, copies=0.5)
    mask = lock_of(messages).mask
    groups = near_duplicate_groups(messages["text"])
    copied = np.bincount(groups)[groups] > 1
    assert mask[copied].mean() == pytest.approx(1 / 3, abs=0.03)
    assert mask[~copied].mean() == pytest.approx(1 / 3, abs=0.03)


def test_a_later_copy_and_another_event_change_nothing():
    messages = invented({"fire": 200}, copies=0)
    late = messages.with_columns(id="9" + pl.col("id"), text="RT @ann: " + pl.col("text"))
    other = invented({"flood": 100}, seed=1)
    mask = lock_of(messages).mask
    assert (lock_of(pl.concat([messages, late])).mask == np.tile(mask, 2)).all()
    assert (lock_of(pl.concat([messages, other])).mask[:200] == mask).all()


def test_a_group_of_several_events_is_locked_or_not_as_one():
    fire, flood = (invented({event: 30}, seed=3, copies=0) for event in ("fire", "flood"))
    flood = flood.with_columns(id="x" + pl.col("id"))
    mask = lock_of(pl.concat([fire, flood])).mask
    assert (mask[:30] == mask[30:]).all()
    assert mask[:30].sum() >= 10


def test_unlabelled_messages_follow_their_group():
    fire = invented({"fire": 60}, copies=0)
    unlabelled = fire.with_columns(id="x" + pl.col("id"), event=pl.lit(None, pl.String))
    mask = lock_of(pl.concat([fire, unlabelled])).mask
    assert (mask[:60] == mask[60:]).all()
    alone = lock_of(invented({None: 3000}, copies=0)).mask
    assert alone.mean() == pytest.approx(1 / 3, abs=0.03)


def test_an_event_that_is_one_text_is_not_locked():
    one = pl.DataFrame({"id": list("abcdefghijkl"), "text": "Fire!", "event": "fire"})
    assert not lock_of(one).mask.any()


def test_what_is_left():
    messages = invented({"fire": 50, None: 20})
    mask = lock_of(messages).mask
    assert without_locked(messages).equals(messages.filter(~mask))
    assert without_locked(messages.clear()).is_empty()


def test_counts_are_sorted_by_size():
    messages = invented({None: 9, "a": 1, "b": 3, "c": 3})
    mask = messages["event"].eq_missing("c").to_numpy()
    assert lock_counts(messages, Lock("x", mask)).rows() == [
        ("b", 0, 3),
        ("c", 3, 3),
        ("a", 0, 1),
        (None, 0, 9),
    ]


def test_the_error_is_one_of_input():
    assert issubclass(LockedMessages, InputError)
