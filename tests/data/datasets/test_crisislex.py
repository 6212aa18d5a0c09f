"""CrisisLex datasets against the lists of rows they must have."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from eventide.data.datasets import crisislex, crisislex_lt28, crisislex_t7, registered_path
from eventide.data.datasets.build import build
from eventide.data.schema import SCHEMA
from eventide.data.splits import split_counts
from eventide.errors import EventideError, MissingColumn, UnreadableSource
from tree import SHARED

DATA = SHARED / "data"
CHECKOUT = DATA / "CrisisLex"
needs_checkout = pytest.mark.skipif(
    not CHECKOUT.is_dir(), reason="no CrisisLex checkout beside the project"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENTIDE_DATA", str(tmp_path / "data"))


def listed(name: str) -> pl.DataFrame:
    return pl.read_csv(DATA / name, schema_overrides={"tweet_id": pl.String}).select(
        pl.col("tweet_id").alias("id"), "label", "event"
    )


@needs_checkout
def test_t7_has_exactly_the_papers_rows(tmp_path):
    built = build("crisislex-t7", CHECKOUT, tmp_path / "t7.parquet")
    frame = pl.read_parquet(built.path)
    assert frame.select("id", "label", "event").equals(listed("crisislex_t7_ids.csv"))
    assert list(frame.schema)[: len(SCHEMA)] == list(SCHEMA)
    assert {name: frame.schema[name] for name in SCHEMA} == SCHEMA
    assert split_counts(frame)["size"].to_list() == [1000, 544, 297, 173, 111, 80, 65]
    assert split_counts(frame).select("train", "val", "test").row(0) == (950, 20, 30)
    assert frame["text"].null_count() == 0
    assert frame["text"].n_unique() == 2058
    assert frame["created_at"].dt.year().unique().sort().to_list() == [2012, 2013]
    first = frame.row(0, named=True)
    # The collection's own period file says Sun Dec 01 12:51:01 +0000 2013 for this tweet.
    assert first["created_at"].replace(microsecond=0).isoformat() == "2013-12-01T12:51:01+00:00"
    by_formula = [(int(identity) >> 22) + 1288834974657 for identity in frame["id"]]
    assert frame["created_at"].dt.epoch("ms").to_list() == by_formula
    assert first["text"].startswith("NYPD calling Level 3 mobilization")
    assert registered_path("crisislex-t7") == built.path


@needs_checkout
@pytest.mark.parametrize("event", [event for event in crisislex_t7.EVENTS if "Boston" not in event])
def test_the_shipped_list_follows_the_rule_where_it_can_be_derived(event):
    label = crisislex_t7.EVENTS.index(event)
    file = (
        crisislex.collection(CHECKOUT, crisislex.T26)
        / event
        / f"{event}-tweetids_entire_period.csv"
    )
    period = (
        pl.read_csv(file, infer_schema=False)
        .rename(str.strip)
        .select(id="Tweet-ID")
        .unique(maintain_order=True)
    )
    related = crisislex.related(CHECKOUT, crisislex.T26, event)
    derived = period.join(related, on="id", maintain_order="left")["id"]
    rows = crisislex_t7.row_list().filter(pl.col("event") == event)["id"]
    assert rows.to_list() == derived.head(int(989 * 0.5**label + 50)).to_list()


@needs_checkout
def test_lt28_has_exactly_its_rows():
    built = build("crisislex-lt28", CHECKOUT)
    frame = pl.read_parquet(built.path)
    assert frame.select("id", "label", "event").equals(listed("crisislex_lt28_ids.csv"))
    assert built.totals() == {"messages": 26_043, "train": 24_643, "val": 560, "test": 840}
    assert crisislex_lt28.pooled(CHECKOUT).height == 57_482
    assert frame["text"].null_count() + frame["created_at"].null_count() == 0
    assert not any("expected" in note for note in built.notes)


@needs_checkout
def test_near_duplicates_can_be_kept_on_one_side():
    from eventide.data.near_duplicates import near_duplicate_groups

    built = build("crisislex-t7", CHECKOUT, keep_together=True, seed=4)
    frame = pl.read_parquet(built.path)
    groups = pl.Series("group", near_duplicate_groups(frame["text"]))
    assert groups.n_unique() < 2058
    sides = frame.with_columns(groups).group_by("group").agg(pl.col("split").n_unique())
    assert sides["split"].max() == 1
    assert split_counts(frame).select("val", "test").unique().rows() == [(20, 30)]


@needs_checkout
def test_the_seed_changes_the_split_and_nothing_else(tmp_path):
    one, same, other = (
        pl.read_parquet(build("crisislex-t7", CHECKOUT, tmp_path / f"{n}.parquet", seed=seed).path)
        for n, seed in enumerate((0, 0, 1))
    )
    assert one.equals(same)
    assert not one.equals(other)
    assert one.drop("split").equals(other.drop("split"))


def small_checkout(root: Path, events: tuple[str, ...] = crisislex_t7.EVENTS) -> Path:
    """Write a checkout of invented text that holds the ids of the shipped list."""
    for event in events:
        folder = root / "data" / crisislex.T26 / event
        folder.mkdir(parents=True)
        rows = crisislex_t7.row_list().filter(pl.col("event") == event)
        lines = [
            f'"{identity}","text {identity}",Media,Other,Related and informative'
            for identity in rows["id"]
        ]
        header = "Tweet ID, Tweet Text, Information Source, Information Type, Informativeness"
        (folder / f"{event}-tweets_labeled.csv").write_text(
            "\n".join([header, *lines]), encoding="utf-8"
        )
    return root


def test_t7_can_be_built_from_the_list_alone(tmp_path):
    root = small_checkout(tmp_path / "checkout")
    for place in (root, root / "data", root / "data" / crisislex.T26):
        assert build("crisislex-t7", place).totals()["messages"] == 2270


def test_a_missing_event_is_named(tmp_path):
    root = small_checkout(tmp_path / "checkout", crisislex_t7.EVENTS[:-1])
    with pytest.raises(UnreadableSource, match=r"(?s)2013_Colorado_floods.*git clone"):
        build("crisislex-t7", root)
    assert registered_path("crisislex-t7") is None
    with pytest.raises(UnreadableSource, match="2012_Costa_Rica_earthquake"):
        build("crisislex-lt28", root)


def test_missing_tweets_columns_and_folders_are_named(tmp_path):
    root = small_checkout(tmp_path / "checkout")
    event = crisislex_t7.EVENTS[3]
    file = root / "data" / crisislex.T26 / event / f"{event}-tweets_labeled.csv"
    content = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(content[:-2]), encoding="utf-8")
    with pytest.raises(UnreadableSource, match=rf"2 of the 2270 .* {event}"):
        build("crisislex-t7", root)
    file.write_text("id,words\n1,2\n", encoding="utf-8")
    with pytest.raises(MissingColumn, match="Tweet ID, Tweet Text"):
        build("crisislex-t7", root)
    for damaged in (b"", b"\xff\xfe\x00bad", b'"a\x00'):
        file.write_bytes(damaged)
        with pytest.raises(EventideError):
            build("crisislex-t7", root)
    shutil.rmtree(root / "data")
    with pytest.raises(UnreadableSource, match="CrisisLexT26"):
        build("crisislex-t7", root)


def test_the_shipped_list_holds_ids_and_labels_only():
    file = Path(crisislex_t7.__file__).with_name("crisislex_t7_ids.csv")
    assert all(line.replace(",", "").isdigit() for line in file.read_text().splitlines()[1:])
