"""Every way a source can be bad has one outcome; docs/messages.md lists them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eventide.data import Intake, read
from eventide.data.schema import SCHEMA
from eventide.errors import (
    BadSetting,
    InputError,
    MissingColumn,
    OutputError,
    RejectedRows,
    UnreadableSource,
)

WHEN = "2013-12-01T12:51:01Z"
GOOD = {"id": "1", "text": "flood", "created_at": WHEN}


def lines(*records: dict[str, Any] | bytes) -> bytes:
    return (
        b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records) + b"\n"
    )


def from_bytes(folder: Path, name: str, content: bytes, **options: Any) -> Intake:
    path = folder / name
    path.write_bytes(content)
    intake = read(path, **options)
    assert intake.rows_in == len(intake.messages) + len(intake.rejected)
    assert dict(intake.messages.schema) == SCHEMA
    return intake


BAD_RECORDS = [
    ({**GOOD, "id": "1"}, "id", "taken by an earlier row"),
    ({**GOOD, "id": " "}, "id", "missing"),
    ({"text": "a", "created_at": WHEN}, "id", "missing"),
    ({**GOOD, "id": "5.40123E+17"}, "id", "digits of the id are lost"),
    ({**GOOD, "id": "2", "text": " \n"}, "text", "empty"),
    ({**GOOD, "id": "2", "text": None}, "text", "empty"),
    ({**GOOD, "id": "2", "text": "a\x00b"}, "text", "NUL"),
    ({**GOOD, "id": "2", "user": "a\x00b"}, "user", "NUL"),
    ({**GOOD, "id": "2", "hashtags": ["a\x00b"]}, "hashtags", "NUL"),
    ({**GOOD, "id": "2", "text": "a\ud800b"}, "text", "lone surrogate"),
    ({**GOOD, "id": "2", "created_at": "soon"}, "created_at", "not a time"),
    ({**GOOD, "id": "2", "created_at": "1066-10-14"}, "created_at", "not a time"),
    ({**GOOD, "id": "2", "created_at": None}, "created_at", "missing"),
    ({**GOOD, "id": "2", "split": "holdout"}, "split", "not a split"),
    ({**GOOD, "id": "2", "hashtags": {"a": 1}}, "hashtags", "not a list"),
    ({**GOOD, "id": "2", "vector": [1.0, None]}, "vector", "finite"),
    ({**GOOD, "id": "2", "vector": "a b"}, "vector", "finite"),
]


@pytest.mark.parametrize(("record", "column", "reason"), BAD_RECORDS)
def test_bad_records(tmp_path: Path, record: dict[str, Any], column: str, reason: str) -> None:
    for intake in (
        from_bytes(tmp_path, "a.jsonl", lines(GOOD, record)),
        from_bytes(tmp_path, "a.json", json.dumps([GOOD, record]).encode()),
        read([GOOD, record]),
    ):
        assert intake.messages["id"].to_list() == ["1"]
        refused = intake.rejected.row(0, named=True)
        assert (refused["row"], refused["column"]) == (2, column)
        assert reason in refused["reason"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": "2", oops', "not JSON"),
        (b'{"id": "2", oops}', "not JSON"),
        (b"[1, 2]", "not an object"),
        (b"null", "not an object"),
        (b'{"id": "2"}{"id": "3"}', "not JSON"),
        (b'{"id": "2", "text": "a\x81\x8db"}', "not UTF-8: byte 0x81"),
        (b'{"id": "2", "text": "a\x00b"}', "NUL byte"),
        (b'{"id": "2", "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
    ],
)
def test_bad_lines(tmp_path: Path, line: bytes, reason: str) -> None:
    other = {**GOOD, "id": "9"}
    intake = from_bytes(tmp_path, "a.jsonl", lines(GOOD, b"", line, other))
    assert intake.messages["id"].to_list() == ["1", "9"]
    assert intake.rejected["row"].to_list() == [3]
    assert reason in intake.rejected["reason"][0]


def test_a_bad_first_line_spoils_only_itself(tmp_path: Path) -> None:
    for first in (b"[oops", b"[1, 2]", b"{oops", b"oops"):
        intake = from_bytes(tmp_path, "a.jsonl", lines(first, GOOD))
        assert (intake.rejected["row"].to_list(), intake.messages["id"].to_list()) == ([1], ["1"])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "empty"),
        ("a.csv", b"id,text,time\n", "no rows"),
        ("a.csv", gzip.compress(b"id,text\n1,a\n", mtime=0), "rename it to a.csv.gz"),
        ("a.csv.gz", b"id,text\n1,a\n", "not gzipped"),
        ("a.csv.gz", gzip.compress(b"id,text\n1,a\n" * 99, mtime=0)[:40], "damaged or cut off"),
        ("a.csv", b'{"id": "1"}', "holds JSON, although it is named .csv"),
        ("a.csv", b"<!DOCTYPE html><p>404", "web page"),
        ("a.csv", b"\xff\xfeid", None),
        ("a.csv", "id,text".encode("utf-16-le"), "UTF-16 without"),
        ("a.jsonl", b"PAR1....", "holds Parquet"),
        ("a.jsonl", b"PK\x03\x04....", "ZIP"),
        ("a.jsonl", b"id,text\n1,a\n", "none of the 2 rows"),
        ("a.jsonl", b"\n\n", "no message"),
        ("a.jsonl", b"\xef\xbb\xbf", "no message"),
        ("a.parquet", b"id,text\n1,a\n", "holds text, although it is named .parquet"),
        ("a.parquet", b"PAR1 and nothing else PAR1", "damaged"),
        ("a.csv", b"id,id,text\n1,2,a\n", "one name: id"),
    ],
)
def test_files_that_are_not_what_they_say(
    tmp_path: Path, name: str, content: bytes, says: str | None
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    if says:
        assert says in str(caught.value)
    assert caught.value.next_step
    assert name in (caught.value.where or name)


def test_missing_files_and_odd_sources(tmp_path: Path) -> None:
    for source in (
        tmp_path / "none.csv",
        tmp_path,
        "no-such-dataset",
        "a\x00b.csv",
        7,
        GOOD,
        [],
        b"x",
    ):
        with pytest.raises(UnreadableSource):
            read(source)
    with pytest.raises(UnreadableSource):
        read(pl.DataFrame())


def test_a_missing_column_names_what_is_there_and_how_to_map_it(tmp_path: Path) -> None:
    for name, content in (
        ("a.csv", b"id,body,time\n1,a,2013-01-01\n"),
        ("a.jsonl", lines({"id": 1, "body": "a", "time": WHEN})),
    ):
        with pytest.raises(MissingColumn, match=r"found: id, body, time") as caught:
            from_bytes(tmp_path, name, content)
        assert "--column text=body" in str(caught.value)
        assert len(from_bytes(tmp_path, name, content, columns={"text": "body"}).messages) == 1
    with pytest.raises(MissingColumn, match="created_at"):
        read([{"id": "m1", "text": "a"}], need_time=True)
    with pytest.raises(BadSetting):
        read([GOOD], columns={"colour": "text"})
    with pytest.raises(InputError, match="could be any of time, date"):
        read([{"id": 1, "text": "a", "time": WHEN, "date": WHEN}])


def test_strict_turns_rejected_rows_into_an_error() -> None:
    with pytest.raises(RejectedRows, match=r"1 of 2 rows[^!]*text: the text is empty .*row 2"):
        read([GOOD, {**GOOD, "id": "2", "text": ""}], strict=True)
    assert len(read([GOOD], strict=True).messages) == 1


def test_rejected_rows_can_be_written_out(tmp_path: Path) -> None:
    intake = read([GOOD, {**GOOD, "text": "again"}, {**GOOD, "id": "3", "text": ""}])
    assert pl.read_csv(intake.write_rejected(tmp_path / "new" / "r.csv"))["row"].to_list() == [2, 3]
    assert pl.read_ndjson(intake.write_rejected(tmp_path / "r.jsonl"))["row"].to_list() == [2, 3]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "r.jsonl"]
    with pytest.raises(OutputError):
        intake.write_rejected(tmp_path / "r.xlsx")
    with pytest.raises(InputError):
        intake.write_rejected(tmp_path / "r.jsonl" / "below-a-file.csv")
    assert "1 rejected: id" in intake.summary()


def test_vectors_must_agree_in_width() -> None:
    rows = [{**GOOD, "id": str(n), "vector": [0.5] * width} for n, width in enumerate([2, 3, 2])]
    intake = read(rows)
    assert intake.messages["id"].to_list() == ["0", "2"]
    assert "the file's 2" in intake.rejected["reason"][0]


def test_ids_never_pass_through_a_float(tmp_path: Path) -> None:
    big = 907124578246270977
    content = lines({"id": big, "text": "a", "created_at": WHEN})
    assert from_bytes(tmp_path, "a.jsonl", content).messages["id"].to_list() == [str(big)]
    lost = lines(GOOD, {**GOOD, "id": 2}, b'{"id": 9.07124578246271e+17, "text": "a"}')
    for content in (lost, lines(*[{**GOOD, "id": n} for n in range(9)]) + lost.splitlines()[-1]):
        refused = from_bytes(tmp_path, "a.jsonl", content).rejected
        assert "digits of the id are lost" in refused["reason"].to_list()[-1]
    frame = pl.DataFrame({"id": [9.07124578246271e17, 1.0], "text": ["a", "b"], "time": [WHEN] * 2})
    assert "digits" in read(frame).rejected["reason"][0]
