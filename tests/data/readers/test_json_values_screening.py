"""Screening: what counts as sound really is, nothing is lost, and order does not suffer."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data import read
from eventide.data.readers import json_files
from eventide.data.readers.json_values import screened
from eventide.data.readers.pieces import line_count, line_ends
from eventide.data.whole_source import _repeated

LINES = st.sampled_from(
    [b'{"id": "1", "text": "a"}', b'{"id": 12, "text": [1, {"a": "b"}]}', b'{"id": "\\ud83d\\ude00"}',
     b'{"id": oops "1"}', b'{"id": "1"', b'{"id": "\xe9"}', b'{"id": "\\u0000"}', b'{"id": "\\ud800"}',
     b'{"id": "a\x00"}', b'{"id": 1e999}', b'{"id": 007}', b'{"other": 1}', b"", b"  ", b"[]", b"\xff", b"\x01",
     b'{"id": "\\q"}', b'{"id": "x\\"y"}', "{\"id\": \"東\ufffd\"}".encode(), b'{"id": null}\r']
)  # fmt: skip


@given(st.lists(LINES, min_size=1, max_size=12), st.booleans())
@settings(max_examples=200, deadline=None)
def test_sound_lines_are_sound_and_none_is_lost(lines: list[bytes], ended: bool) -> None:
    piece = b"\n".join(lines) + b"\n" * (ended or not lines[-1])
    parts = screened(piece, 1, ["id", "text"])
    kept = parts.content.split(b"\n")[: len(parts.rows)]
    numbered = dict(zip(parts.rows.tolist(), kept, strict=True)) | dict(parts.doubtful)
    assert numbered == {row: line for row, line in enumerate(lines, 1) if line.strip()}
    for line in kept:
        assert set(json.loads(line)) <= {"id", "text"}
    if kept:
        frame = pl.read_ndjson(io.BytesIO(parts.content), schema={"id": pl.String()})
        assert len(frame) == len(kept)
        assert not frame["id"].str.contains("\x00", literal=True).any()


@given(st.binary(min_size=1, max_size=200).map(lambda b: b.replace(b"a", b"\n")))
def test_lines_are_counted_and_end_where_they_end(piece: bytes) -> None:
    lines = piece.split(b"\n")[: -1 if piece.endswith(b"\n") else None]
    assert line_count(piece) == len(lines) == len(line_ends(piece))
    assert line_ends(piece)[-1] == len(piece) - piece.endswith(b"\n")


@pytest.mark.parametrize("size", [64, 300, 10_000])
def test_lines_read_with_care_keep_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(json_files, "CHUNK", size)
    path = tmp_path / "a.jsonl"
    lines = []
    for number in range(60):
        text = "back\\slash \\u0000 spelt out" if number % 7 == 3 else f"text {number}"
        record = {"id": str(number), "text": text, "created_at": "2013-12-01T12:51:01Z"}
        extra = {"hashtags": ["x"]} if number == 55 else {}
        lines.append(json.dumps(record | extra) if number % 10 else "{oops")
    path.write_text("\n".join(lines), encoding="utf-8")
    intake = read(path)
    sound = [number for number in range(60) if number % 10]
    assert intake.messages["id"].to_list() == [str(number) for number in sound]
    assert intake.rejected["row"].to_list() == list(range(1, 61, 10))
    assert intake.rows_in == 60
    given_tags = intake.messages.filter(pl.col("hashtags").is_not_null())
    assert given_tags.select("id", "hashtags").rows() == [("55", ["x"])]


@given(st.lists(st.sampled_from(["1", "01", "2", "+2", "a", "b", "18446744073709551616"])))
def test_repeated_ids_are_those_seen_before(ids: list[str]) -> None:
    expected = [one in ids[:at] for at, one in enumerate(ids)]
    assert _repeated(pl.Series(ids, dtype=pl.String)).to_list() == expected
