from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from eventide.data import read
from eventide.data.readers.pieces import pieces_of
from tree import SHARED

RECORDS: list[dict[str, Any]] = [
    {"id": "11", "text": "água, “sube”\nya", "created_at": "2013-06-21T08:00:00Z", "event": "flood",
     "user": "ann", "hashtags": ["a", "b"], "mentions": [], "split": "train"},
    {"id": "12", "text": "calm", "created_at": "2013-06-22T08:00:00Z", "event": None,
     "user": None, "hashtags": None, "mentions": None, "split": None},
]  # fmt: skip


def as_csv(separator: str = ",", encoding: str = "utf-8") -> bytes:
    frame = pd.DataFrame(RECORDS)
    return frame.to_csv(index=False, sep=separator).encode(encoding)


def as_lines(ending: str = "\n") -> bytes:
    return "".join(json.dumps(r, ensure_ascii=False) + ending for r in RECORDS).encode()


def as_parquet() -> bytes:
    target = io.BytesIO()
    pl.DataFrame(RECORDS).write_parquet(target)
    return target.getvalue()


FILES = {
    "a.csv": as_csv(),
    "a.tsv": as_csv("\t"),
    "semicolons.csv": as_csv(";"),
    "bom.csv": as_csv(encoding="utf-8-sig"),
    "wide.csv": as_csv(encoding="utf-16"),
    "wider.csv": as_csv(encoding="utf-32"),
    "a.csv.gz": gzip.compress(as_csv()),
    "crlf.csv": as_csv().replace(b"\n", b"\r\n").replace(b"\r\nya", b"\nya"),
    "a.jsonl": as_lines(),
    "a.ndjson": as_lines("\r\n"),
    "blank.jsonl": b"\n \n" + as_lines("\n\n"),
    "open.jsonl": as_lines().rstrip(),
    "bom.jsonl": b"\xef\xbb\xbf" + as_lines(),
    "wide.jsonl": as_lines().decode().encode("utf-16"),
    "a.jsonl.gz": gzip.compress(as_lines()),
    "ascii.jsonl": "".join(json.dumps(r) + "\n" for r in RECORDS).encode(),
    "array.jsonl": json.dumps(RECORDS).encode(),
    "array.json": json.dumps(RECORDS, indent=2).encode(),
    "lines.json": as_lines(),
    "nameless": as_lines(),
    "table": as_csv(),
    "a.parquet": as_parquet(),
    "parquet": as_parquet(),
    "a.parquet.gz": gzip.compress(as_parquet()),
}


def check(messages: pl.DataFrame) -> None:
    assert messages["id"].to_list() == ["11", "12"]
    assert messages["text"].to_list() == [r["text"] for r in RECORDS]
    assert messages["created_at"].dt.day().to_list() == [21, 22]
    assert messages["event"].to_list() == ["flood", None]
    assert messages["user"].to_list() == ["ann", None]
    assert messages["hashtags"].to_list() == [["a", "b"], None]
    assert messages["mentions"].to_list() == [[], None]
    assert messages["urls"].to_list() == [None, None]
    assert messages["split"].to_list() == ["train", None]


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_gives_the_same_messages(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    intake = read(str(tmp_path / name))
    assert intake.rejected.is_empty()
    check(intake.messages)


def test_objects_in_memory_give_the_same_messages() -> None:
    polars = pl.DataFrame(RECORDS)
    for source in (RECORDS, tuple(RECORDS), polars, polars.lazy(), pd.DataFrame(RECORDS)):
        check(read(source).messages)


def test_pandas_columns_of_every_kind() -> None:
    frame = pd.DataFrame(
        {
            "Tweet ID": np.array([2**62 + 1, 5]),
            "text": ["a", "b"],
            "created_at": pd.to_datetime(["2013-01-01", "2013-01-02"]).tz_localize("Europe/Paris"),
            "event": [3.0, np.nan],
            "hashtags": [np.array(["x", "y"]), "z;w"],
            "vector": [np.array([1, 2], dtype=np.float32), np.array([3, 4], dtype=np.float32)],
        }
    )
    messages = read(frame).messages
    assert messages["id"].to_list() == [str(2**62 + 1), "5"]
    assert messages["event"].to_list() == ["3", None]
    assert messages["created_at"][0] == datetime(2012, 12, 31, 23, tzinfo=UTC)
    assert messages["hashtags"].to_list() == [["x", "y"], ["z", "w"]]
    assert messages["vector"].to_list() == [[1, 2], [3, 4]]


def test_other_column_names_and_extra_lists(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"tweet_id": 1, "message": "x", "timestamp": 1385902261, "event_id": 4, "places": "[\'u\', \'v\']"}\n'
        '{"tweet_id": 2, "message": "y", "timestamp": 1385902261000, "tags": ["t"], "places": ["w"]}\n'
    )
    messages = read(tmp_path / "a.jsonl", lists=["places"]).messages
    assert messages["event"].to_list() == ["4", None]
    assert messages["places"].to_list() == [["u", "v"], ["w"]]
    assert messages["hashtags"].to_list() == [None, ["t"]]
    assert messages["created_at"].n_unique() == 1


def test_a_name_that_turns_up_late_is_not_missed(tmp_path: Path) -> None:
    late = {
        "id": "x",
        "text": "t",
        "created_at": 1385902261,
        "label": "storm",
        "urls": ["http://a.b"],
    }
    plain = [{"id": n, "text": "t", "created_at": 1385902261} for n in range(300)]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(r) for r in [*plain, late]))
    last = read(tmp_path / "a.jsonl").messages.row(-1, named=True)
    assert (last["event"], last["urls"]) == ("storm", ["http://a.b"])


def test_an_unlabelled_stretch_does_not_borrow_another_column() -> None:
    records = [
        {"id": n, "text": "t", "created_at": 1385902261, "event": None, "label": "no"}
        for n in range(3)
    ]
    assert read(records).messages["event"].to_list() == [None] * 3


def test_bad_lines_among_thousands_keep_order_and_kinds(tmp_path: Path) -> None:
    good = [
        {"id": str(n), "text": f"t{n} " * 20, "created_at": 1385902261, "hashtags": ["a"]}
        for n in range(3000)
    ]
    lines = [json.dumps(record).encode() for record in good]
    for n in range(70, 3000, 400):
        lines[n] = [b"{broken}", lines[n][:20], b'{"id": "\xff"}', b"[]"][n // 400 % 4]
    for n in range(2090, 3000, 300):  # lists as strings, past the lines a reader looks at first
        lines[n] = lines[n].replace(b'["a"]', b"\"['b', 'c']\"")
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    intake = read(tmp_path / "a.jsonl")
    bad = list(range(70, 3000, 400))
    assert intake.rejected["row"].to_list() == [n + 1 for n in bad]
    assert intake.messages["id"].to_list() == [str(n) for n in range(3000) if n not in bad]
    tags = dict(intake.messages.select("id", "hashtags").rows())
    assert tags["2090"] == ["b", "c"]
    assert tags["2091"] == ["a"]


def test_csv_records_are_counted_and_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(
        b"id,text,time\n1,a,1385902261\n2,too few\n3,too,many,1385902261\n\n"
        b'4,"never closed,1385902261\n5,fine,1385902261\n6,"two\nlines",1385902261\n7,\x81\x8d,1385902261\n'
    )
    intake = read(tmp_path / "a.csv")
    assert intake.messages["id"].to_list() == ["1", "5", "6"]
    assert intake.messages["text"].to_list()[2] == "two\nlines"
    assert intake.rejected["row"].to_list() == [2, 3, 4, 7]
    assert intake.rows_in == 7


def test_chunks_end_where_lines_end() -> None:
    content = b"a\nbb\n" + b"c" * 50 + b"\nd"
    for size in range(1, 70):
        pieces = list(pieces_of(io.BytesIO(content), size))
        assert b"".join(pieces) == content
        assert all(piece.endswith(b"\n") for piece in pieces[:-1])


def test_crisislex_files_as_they_come() -> None:
    folder = SHARED / "data/CrisisLex/data/CrisisLexT26"
    path = folder / "2012_Costa_Rica_earthquake/2012_Costa_Rica_earthquake-tweets_labeled.csv"
    if not path.exists():
        pytest.skip("the CrisisLex checkout is not here")
    intake = read(path)
    assert len(intake.messages) + len(intake.rejected) == intake.rows_in > 1000
    assert intake.messages["created_at"].dt.year().unique().to_list() == [2012]
