"""Rows 24 and 25: standard input, several files, texts, series, Arrow, generators."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eventide.data import read
from eventide.errors import MissingColumn, UnreadableSource

TEXTS = ["flood in Calgary", "fire in Valparaiso"]
ROWS = [
    {"id": f"m{n}", "text": text, "created_at": "2013-06-13T14:05:00Z"}
    for n, text in enumerate(TEXTS)
]


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


TEXT_SOURCES: dict[str, Callable[[], Any]] = {
    "list": lambda: TEXTS,
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "pandas series": lambda: pd.Series(TEXTS, index=[7, 9], name="text"),
    "polars series": lambda: pl.Series(TEXTS),
    "numpy array": lambda: np.array(TEXTS),
    "object array": lambda: np.array(TEXTS, dtype=object),
    "arrow array": lambda: pa.array(TEXTS),
    "chunked array": lambda: pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "dict values": lambda: {1: TEXTS[0], 2: TEXTS[1]}.values(),
}


@pytest.mark.parametrize("kind", TEXT_SOURCES)
def test_texts_alone_are_messages(kind: str) -> None:
    """Row 25: a list of strings, a Series, a generator; ids are made, and all that is said."""
    intake = read(TEXT_SOURCES[kind]())
    assert intake.messages["text"].to_list() == TEXTS
    assert intake.messages["id"].to_list() == read(TEXTS).messages["id"].to_list()
    assert intake.messages["created_at"].null_count() == 2
    assert [note for note in intake.notes if "no column of ids" in note]
    assert [note for note in intake.notes if "no times: messages are not weighted" in note]


DICT_SOURCES: dict[str, Callable[[], Any]] = {
    "list": lambda: ROWS,
    "generator": lambda: iter(ROWS),
    "arrow table": lambda: pa.Table.from_pylist(ROWS),
    "arrow batch": lambda: pa.RecordBatch.from_pylist(ROWS),
    "arrow reader": lambda: pa.Table.from_pylist(ROWS).to_reader(),
    "series of structs": lambda: pl.Series(ROWS),
    "text file": lambda: io.StringIO("\n".join(map(json.dumps, ROWS))),
    "binary file": lambda: io.BytesIO("\n".join(map(json.dumps, ROWS)).encode()),
}


@pytest.mark.parametrize("kind", DICT_SOURCES)
def test_other_kinds_of_messages(kind: str) -> None:
    """Row 25: an Arrow table, a generator of dicts, an open file."""
    intake = read(DICT_SOURCES[kind]())
    assert intake.messages["id"].to_list() == ["m0", "m1"]
    assert intake.messages["text"].to_list() == TEXTS
    assert intake.notes == ()


@pytest.mark.parametrize("odd", [{}, {"id": 1, "text": "a"}, 7, None, b"x", {"a", "b"}, np.zeros((2, 2)), iter([]), [], pl.Series([], dtype=pl.String), pd.Series(dtype=str)])  # fmt: skip
def test_what_is_no_source_is_refused(odd: Any) -> None:
    """Row 25: one dict is a helpful error; nothing is a traceback."""
    with pytest.raises(UnreadableSource) as caught:
        read(odd)
    assert caught.value.next_step


def test_gaps_among_texts_are_quarantined() -> None:
    intake = read([None, "flood", float("nan"), 7, " "])
    assert intake.messages["text"].to_list() == ["flood"]
    assert intake.rejected["row"].to_list() == [1, 3, 4, 5]
    assert "not a text but int" in intake.rejected["reason"].to_list()
    assert read([ROWS[0], "text"]).rejected["reason"].to_list() == ["not an object but str"]


def test_made_ids_tell_texts_apart_and_stay_the_same(tmp_path: Path) -> None:
    """Row 25: ids from row numbers and content."""
    same = read(["a", "a"]).messages["id"].to_list()
    assert len(set(same)) == 2
    assert same == read(["a", "a"]).messages["id"].to_list()
    assert same[0] != read(["b"]).messages["id"][0]
    (tmp_path / "a.csv").write_text("text,time\na,2013-01-01\na,2013-01-01\n")
    intake = read(tmp_path / "a.csv")
    assert intake.messages["id"].to_list() == same
    assert read(intake.messages).messages.equals(intake.messages)
    both = read(
        [tmp_path / "a.csv", str(tmp_path / "a.csv"), tmp_path / ".." / tmp_path.name / "a.csv"]
    )
    assert both.messages["id"].n_unique() == 4


def test_an_id_column_with_gaps_still_quarantines() -> None:
    """Row 25: ids are made where the column is absent, not where a cell is empty."""
    intake = read([{"text": "a"}, {"id": "x", "text": "b"}])
    assert intake.messages["id"].to_list() == ["x"]
    assert intake.rejected["reason"].to_list() == ["the id is missing"]


def test_another_name_for_the_id_is_suggested() -> None:
    (note,) = [n for n in read([{"key": "a", "text": "b"}]).notes if "ids" in n]
    assert "--column id=key" in note
    assert "columns={'id': 'key'}" in note


def test_times_are_all_or_none(tmp_path: Path) -> None:
    """Row 25: no time at all is said; a gap among times is a quarantined row."""
    lines = [json.dumps({"id": n, "text": "t", "x": "y" * 100}) for n in range(300_000 // 2)]
    lines.append(json.dumps({"id": "last", "text": "t", "created_at": "2013-01-01"}))
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    intake = read(path)  # the only time comes batches later
    assert intake.messages["id"].to_list() == ["last"]
    assert intake.reasons()["reason"].to_list() == ["the time is missing"]
    with pytest.raises(MissingColumn, match="created_at"):
        read(["a"], need_time=True)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 24: `-` is standard input, whatever it holds."""
    lines = "\n".join(map(json.dumps, ROWS)).encode()
    table = b"id,text,created_at\n" + b"".join(
        f"{r['id']},{r['text']},{r['created_at']}\n".encode() for r in ROWS
    )
    parquet = io.BytesIO()
    pl.DataFrame(ROWS).write_parquet(parquet)
    for content in (lines, table, json.dumps(ROWS).encode(), gzip.compress(lines), parquet.getvalue(), table.decode().encode("utf-16")):  # fmt: skip
        for dash in ("-", Path("-")):
            stdin(monkeypatch, content)
            intake = read(dash)
            assert intake.messages["id"].to_list() == ["m0", "m1"]
            assert intake.where == "standard input"
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UnreadableSource, match="closed"):
        read("-")
    stdin(monkeypatch, b"")
    with pytest.raises(UnreadableSource, match="empty"):
        read("-")


@pytest.fixture
def several(tmp_path: Path) -> Path:
    for name, number in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.jsonl").write_text(
            json.dumps({**ROWS[0], "id": number})
            + "\n{broken\n"
            + json.dumps({**ROWS[1], "id": 7})
            + "\n"
        )
    return tmp_path


def test_several_files_are_one_source(several: Path) -> None:
    """Row 24: lists of paths and patterns; rejected rows name their file."""
    paths = [several / "a.jsonl", several / "b.jsonl"]
    for source in (paths, list(map(str, paths)), str(several / "*.jsonl"), several / "*.jsonl", [several / "?.jsonl"], [str(several / "[ab].jsonl")]):  # fmt: skip
        intake = read(source)
        assert intake.messages["id"].to_list() == ["1", "7", "2"]
        assert intake.rejected.columns == ["file", "row", "column", "reason", "value"]
        named = [
            (Path(file).name, row) for file, row in intake.rejected.select("file", "row").rows()
        ]
        assert named == [("a.jsonl", 2), ("b.jsonl", 2), ("b.jsonl", 3)]
        assert intake.rows_in == 6
        assert "row 2 of" in intake.summary()
        assert "a.jsonl" in intake.where
    out = read(paths).write_rejected(several / "bad.csv")
    assert pl.read_csv(out)["file"].n_unique() == 2


def test_each_file_decides_for_itself(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,time\n1,a,13/06/2013\n2,b,03/04/2013\n")
    (tmp_path / "b.csv").write_bytes(
        "id,text,time\n3,café,06/13/2013\n4,b,03/04/2013\n".encode("cp1252")
    )
    intake = read([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert intake.messages["created_at"].dt.month().to_list() == [6, 4, 6, 3]
    assert any(
        note.startswith(str(tmp_path / "b.csv")) and "cp1252" in note for note in intake.notes
    )
    (tmp_path / "c.csv").write_text("id,body\n3,a\n")
    with pytest.raises(MissingColumn, match="text") as caught:
        read([tmp_path / "a.csv", tmp_path / "c.csv"])
    assert caught.value.where == str(tmp_path / "c.csv")


def test_texts_are_told_from_paths(several: Path) -> None:
    """Row 24, row 25: strings are texts unless they are all files; some files is an error."""
    path = str(several / "a.jsonl")
    assert read(["see data.csv", "a.b"]).messages["text"].to_list() == ["see data.csv", "a.b"]
    for wrong in ([path, "no-such.jsonl"], [path, "a text"], ["no-such.jsonl"], [Path("no-such")], [several]):  # fmt: skip
        with pytest.raises(UnreadableSource) as caught:
            read(wrong)
        assert caught.value.next_step
    with pytest.raises(UnreadableSource, match="no file matches"):
        read(str(several / "*.csv"))
    with pytest.raises(UnreadableSource, match="folder") as caught:
        read(several)
    assert "*.jsonl" in str(caught.value.next_step)


def test_a_generator_is_read_in_batches() -> None:
    """Row 25: nothing asks for the length, and rows are taken as they come."""

    def rows() -> Iterator[dict[str, Any]]:
        for n in range(30_000):
            yield {"id": n, "text": "t", "time": 1371132300}

    assert len(read(rows()).messages) == 30_000
