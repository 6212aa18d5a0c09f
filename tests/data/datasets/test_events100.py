"""Events2012_100 and Events2018_100 from generated files with the exact columns."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from eventide.data.datasets.build import build
from eventide.data.datasets.events100 import (
    COLUMNS_2012,
    COLUMNS_2018,
    hundred_largest,
    source_files,
)
from eventide.errors import InputError, MissingColumn, UnreadableSource

SIZES = {7: 300, 12: 150, 3: 76, 44: 75, 5: 74, 9: 10}
START = datetime(2012, 10, 10, tzinfo=UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENTIDE_DATA", str(tmp_path / "data"))


def rows(columns):
    """Generate rows in a shuffled order, with every cell of the type the real files have."""
    found = []
    for event, size in SIZES.items():
        for n in range(size):
            when = (START + timedelta(minutes=n)).replace(tzinfo=None)
            cells = {
                "event_id": event,
                "tweet_id": 255819992157786112 + event * 1000 + 999 - n,  # ids against time
                "text": f"message {n} about event {event}",
                "user_id": 1000 + n % 5,
                "user_name": f"user{n % 5}",
                "created_at": when,
                "time": when,
                "hashtags": [f"tag{event}"] if n % 2 else [],
                "user_mentions": [20 + n % 3],
                "urls": [],
                "entities": ["Paris", f"place {event}"],
                "words": ["message"],
                "filtered_words": ["message"],
                "sampled_words": ["message"],
            }
            found.append([cells.get(name, float("nan")) for name in columns])
    order = np.random.default_rng(0).permutation(len(found))
    return [found[place] for place in order]


def write(path, columns, kind, table):
    cell = {"npy": lambda c: c, "parquet": lambda c: c}.get(kind, str)
    if kind == "npy":
        array = np.empty((len(table), len(columns)), dtype=object)
        for row, cells in enumerate(table):
            for column, value in enumerate(cells):
                array[row, column] = value
        np.save(path, array, allow_pickle=True)
    elif kind == "jsonl":
        lines = [
            json.dumps(dict(zip(columns, cells, strict=True)), default=str).replace("NaN", "null")
            for cells in table
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        series = [
            pl.Series(name, [cell(value) for value in values], strict=False)
            for name, values in zip(columns, zip(*table, strict=True), strict=True)
        ]
        frame = pl.DataFrame(series)
        frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    ("name", "columns", "user"),
    [
        ("events2012-100", COLUMNS_2012, "1000"),
        ("events2018-100", COLUMNS_2018, "user0"),
    ],
)
def test_both_sets_from_two_parts_of_every_kind(tmp_path, name, columns, user, kind):
    source = tmp_path / "source"
    source.mkdir()
    table = rows(columns)
    write(source / f"x_part1.{kind}", columns, kind, table[:300])
    write(source / f"x_part2.{kind}", columns, kind, table[300:])
    built = build(name, source)
    assert built.events.select("event", "size", "train", "val", "test").rows() == [
        ("7", 150, 100, 20, 30),
        ("12", 100, 50, 20, 30),
        ("3", 75, 25, 20, 30),
        ("44", 75, 25, 20, 30),
    ]
    frame = pl.read_parquet(built.path)
    first = frame.row(0, named=True)
    assert first["id"] == str(255819992157786112 + 7999)
    assert first["created_at"] == START
    assert first["user"] == user
    assert (first["hashtags"], first["mentions"], first["urls"]) == ([], ["20"], [])
    assert first["entities"] == ["Paris", "place 7"]
    # The first messages in time are kept, in order.
    seven = frame.filter(pl.col("event") == "7")["created_at"]
    assert seven.is_sorted()
    assert seven.max() == START + timedelta(minutes=149)
    assert any("got 200 (100, 25)" in note for note in built.notes)
    assert any("only 4 events" in note for note in built.notes)
    assert sum("rejected" in note for note in built.notes) == 0


def test_the_output_compares_with_the_papers_totals(tmp_path):
    write(tmp_path / "a.npy", COLUMNS_2012, "npy", rows(COLUMNS_2012))
    notes = build("events2012-100", tmp_path / "a.npy").notes
    assert any("15,019" in note and "2,377" in note and "55" in note for note in notes)


def test_the_rule_keeps_the_hundred_largest():
    frame = pl.concat(
        pl.DataFrame({"id": [f"{event}-{n}" for n in range(80 + event)], "event": f"e{event:03}"})
        for event in range(120)
    ).with_columns(created_at=pl.lit(START))
    kept = hundred_largest(frame)
    sizes = kept.group_by("event", "label").len().sort("label")
    assert sizes["event"].to_list() == [f"e{event:03}" for event in range(119, 19, -1)]
    assert sizes["len"].to_list() == [int((80 + event) / 3 + 50) for event in range(119, 19, -1)]


def test_rows_that_repeat_or_fail_are_counted(tmp_path):
    table = rows(COLUMNS_2012)
    at = COLUMNS_2012.index("text")
    bad = [*table[0]]
    bad[at] = None
    bad[1] = 1
    for n, part in enumerate(([*table, bad], table[:5])):
        write(tmp_path / f"part{n}.npy", COLUMNS_2012, "npy", part)
    notes = build("events2012-100", tmp_path / "part*.npy").notes
    assert any("1 of 686 rows rejected" in note and "text" in note for note in notes)
    assert any("5 rows repeat an id" in note for note in notes)


def test_the_wrong_table_says_which_columns_are_expected(tmp_path):
    write(tmp_path / "a.npy", COLUMNS_2018, "npy", rows(COLUMNS_2018)[:9])
    with pytest.raises(
        MissingColumn, match=r"13 columns where 16 are expected: event_id, tweet_id"
    ):
        build("events2012-100", tmp_path / "a.npy")
    (tmp_path / "a.csv").write_text("tweet_id,text\n1,a\n", encoding="utf-8")
    with pytest.raises(InputError):
        build("events2012-100", tmp_path / "a.csv")


def test_too_little_is_said_so(tmp_path):
    write(tmp_path / "a.npy", COLUMNS_2012, "npy", rows(COLUMNS_2012)[:100])
    with pytest.raises(InputError, match=r"(?s)75 messages.*both parts"):
        build("events2012-100", tmp_path / "a.npy")


def test_sources_of_several_kinds_or_none_are_refused(tmp_path):
    with pytest.raises(UnreadableSource, match="known kind"):
        source_files(tmp_path)
    with pytest.raises(UnreadableSource, match="no such file"):
        source_files(tmp_path / "part*.npy")
    for name in ("a.npy", "a.csv", "readme.txt"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(UnreadableSource, match="twice"):
        source_files(tmp_path)
    assert source_files(tmp_path / "*.npy") == [tmp_path / "a.npy"]
