"""The shipped lists against the rule and the data they were made from."""

import re
import time
from pathlib import Path

import polars as pl
import pytest

from eventide.data import published_lock
from eventide.data.datasets import crisislex_lt28, crisislex_t7
from eventide.data.lock import VERSION, lock_counts, lock_of, rule_lock, without_locked
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.published_lock import hashed_ids, list_text, published_locks

FILE = Path(published_lock.__file__).with_name("locks") / "crisislex-1.txt"


@pytest.fixture(scope="module")
def built(crisislex) -> dict[str, pl.DataFrame]:
    collected = {"t7": crisislex_t7.collect(crisislex), "lt28": crisislex_lt28.collect(crisislex)}
    return {
        name: each.messages.select("id", "text", "event", "created_at")
        for name, each in collected.items()
    }


@pytest.fixture(scope="module")
def union(built) -> pl.DataFrame:
    return pl.concat(built.values()).unique("id", keep="first")


def test_the_list_is_the_rule_on_the_union(union):
    assert union.height == 26_718
    mask = rule_lock(union).mask
    ids = (union.filter(part)["id"] for part in (mask, ~mask))
    sources = ["crisislex-t7", "crisislex-lt28"]
    assert list_text("crisislex-1", VERSION, sources, *ids) == FILE.read_text()


@pytest.mark.parametrize("name", ["t7", "lt28"])
def test_about_a_third_of_each_event_is_locked(built, name):
    lock = lock_of(built[name])
    assert lock.name == "crisislex-1"
    counts = lock_counts(built[name], lock).with_columns(
        share=pl.col("locked") / pl.col("messages")
    )
    assert counts["share"].min() > 0.25
    assert counts["share"].max() < 0.45
    assert counts["locked"].min() >= 10
    assert lock.mask.mean() == pytest.approx(1 / 3, abs=0.02)


def test_the_datasets_agree_on_shared_ids(built):
    marked = [
        each.select("id", "text", locked=pl.Series(lock_of(each).mask)) for each in built.values()
    ]
    shared = marked[0].join(marked[1], on="id")
    assert shared.height == 1595
    assert (shared["locked"] == shared["locked_right"]).all()


def test_no_text_has_a_copy_on_both_sides(union):
    rows = union.select(
        group=pl.Series(near_duplicate_groups(union.sort("id")["text"])),
        locked=pl.Series(lock_of(union.sort("id")).mask),
    )
    assert rows.group_by("group").n_unique()["locked"].max() == 1


def test_what_is_left_has_nothing_locked(built):
    """Open messages are in the list too: they are recognised, and not locked once more."""
    left = without_locked(built["t7"])
    assert left.height == 2270 - 788
    again = lock_of(left.head(1))
    assert again.name == "crisislex-1"
    assert not lock_of(left).mask.any()


def test_looking_up_is_quick(built):
    published_locks()
    start = time.perf_counter()
    lock_of(built["lt28"])
    assert time.perf_counter() - start < 1


def test_ids_are_hashed():
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith(("#", "["))]
    assert all(re.fullmatch("[0-9a-f]{12}", line) for line in lines)
    ids = crisislex_t7.row_list()["id"]
    assert not set(ids) & set(lines)
    assert set(hashed_ids(ids)) <= set(lines)


def test_a_list_is_read_as_it_was_written():
    text = list_text("mine-1", 1, ["a.csv"], ["1", "2"], ["3"])
    read = published_lock._parsed("mine-1", text)
    assert read.locked == set(hashed_ids(["1", "2"]))
    assert read.known == set(hashed_ids(["1", "2", "3"]))
    assert list_text("mine-1", 1, ["a.csv"], ["2", "1"], ["3"]) == text
