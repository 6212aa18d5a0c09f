"""Row 20: text files that are not UTF-8: read as said, guessed and said, or quarantined."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import polars as pl
import pytest

from eventide.data import read
from eventide.data.readers.encodings import guess, recoded
from eventide.errors import BadSetting, RejectedRows, UnreadableSource

TEXTS = ["Überschwemmung in Köln", "l’été à Québec, “déjà vu”", "¡Atención! señal 100 €", "plain"]
ROWS = [
    {"id": str(n), "text": text, "created_at": "2013-06-13T14:05:00Z", "event": "Überfall"}
    for n, text in enumerate(TEXTS)
]
CSV = "id,text,created_at,event\n" + "".join(
    f'{r["id"]},"{r["text"]}",{r["created_at"]},{r["event"]}\n' for r in ROWS
)
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.csv.gz"])
def test_windows_text_is_guessed_and_said(tmp_path: Path, name: str) -> None:
    """Row 20: cp1252 where the file is not UTF-8."""
    text = (
        CSV
        if "csv" in name
        else LINES
        if name == "a.jsonl"
        else json.dumps(ROWS, ensure_ascii=False)
    )
    content = text.encode("cp1252")
    intake = read(written(tmp_path, name, gzip.compress(content) if "gz" in name else content))
    assert intake.messages["text"].to_list() == TEXTS
    assert intake.messages["event"].unique().to_list() == ["Überfall"]
    assert [note for note in intake.notes if "read as cp1252, a guess" in note]


def test_the_header_may_be_in_it_too(tmp_path: Path) -> None:
    content = "id;text;time;événement\n1;a;2013-06-13;feu\n".encode("latin-1")
    intake = read(written(tmp_path, "a.csv", content), columns={"event": "événement"})
    assert intake.messages["event"].to_list() == ["feu"]


def test_late_bytes_in_a_long_file(tmp_path: Path) -> None:
    """Row 20: the guess holds for the whole file, whichever batch it is made in."""
    rows = [{"id": n, "text": "x" * 3000, "time": 1371132300} for n in range(12_000)]
    rows[2]["text"] = rows[-1]["text"] = "café"
    content = "\n".join(json.dumps(r, ensure_ascii=False) for r in rows).encode("cp1252")
    texts = read(written(tmp_path, "a.jsonl", content)).messages["text"]
    assert (texts[2], texts[-1], len(texts)) == ("café", "café", 12_000)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_damaged_utf8_file_stays_utf8(tmp_path: Path, name: str) -> None:
    """Row 20: one bad row among good ones is quarantined; the others are not garbled."""
    content = (CSV if "csv" in name else LINES).encode()
    content = content.replace("señal".encode(), b"se\xf1al")
    intake = read(written(tmp_path, name, content))
    assert intake.messages["text"].to_list() == [TEXTS[0], TEXTS[1], TEXTS[3]]
    assert "not UTF-8: byte 0xf1" in intake.rejected["reason"][0]
    assert intake.notes == ()


@pytest.mark.parametrize(("encoding", "text"), [
    ("cp1251", "наводнение в городе"), ("gbk", "洪水警告请注意"), ("shift-jis", "洪水のけいほう"), ("mac-roman", "été déjà naïve"),
    ("cp850", "été déjà naïve"), ("koi8-r", "наводнение"), ("cp1253", "πλημμύρα"),
])  # fmt: skip
def test_other_encodings_are_asked_for_and_never_garbled(
    tmp_path: Path, encoding: str, text: str
) -> None:
    """Row 20: what is not plausibly Western is not guessed; the error names --encoding."""
    content = f"id,text,time\n1,{text},2013-06-13\n2,{text},2013-06-13\n".encode(encoding)
    path = written(tmp_path, "a.csv", content)
    with pytest.raises(RejectedRows, match="all 2 rows: text: not UTF-8") as caught:
        read(path, strict=True)
    assert "--encoding" in str(caught.value.next_step)
    assert read(path, encoding=encoding).messages["text"].to_list() == [text, text]


@pytest.mark.parametrize("encoding", ["cp1252", "CP1252", "windows-1252", "utf-16", "utf-16-le", "utf-8-sig", "utf-32"])  # fmt: skip
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "nameless"])
def test_the_encoding_can_be_said(tmp_path: Path, encoding: str, name: str) -> None:
    """Row 20: --encoding."""
    content = (CSV if name == "a.csv" else LINES).encode(encoding)
    intake = read(written(tmp_path, name, content), encoding=encoding)
    assert intake.messages["text"].to_list() == TEXTS
    assert intake.notes == ()


@pytest.mark.parametrize("wrong", ["cp1525", "base64", "latinn-1", "", "no such thing", "\x00"])
def test_an_unknown_encoding_is_refused(wrong: str) -> None:
    """Row 20: a typo is a BadSetting."""
    with pytest.raises(BadSetting) as caught:
        read(ROWS, encoding=wrong)
    assert caught.value.next_step


def test_a_wrong_encoding_does_not_pass_for_a_right_one(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", CSV.encode("cp1252"))
    assert len(read(path, encoding="ascii").rejected) == 4
    for wrong in ("utf-32", "utf-16", "utf-16-le"):
        with pytest.raises(UnreadableSource) as caught:
            read(path, encoding=wrong)
        assert "--encoding" in str(caught.value.next_step)
    marked = written(tmp_path, "b.csv", CSV.encode("utf-8-sig"))
    intake = read(marked, encoding="cp1252")
    assert intake.messages["text"].to_list() == TEXTS
    assert "byte order mark" in intake.notes[0]


def test_a_guess_needs_reasons() -> None:
    assert guess(["naïve café “quoted”".encode("cp1252")]) == "cp1252"
    assert guess([("naïve café " * 9).encode() + b"\xff"]) is None
    assert guess([b"\x80\x81\x82\x83\x84"]) is None


def test_streams_are_recoded_piece_by_piece() -> None:
    text = "aé€漢😀" * 300_000
    assert recoded(io.BytesIO(text.encode("utf-16")), "utf-16").read().decode() == text
    assert pl.Series([recoded(io.BytesIO(b"a\x81b"), "cp1252").read()]).to_list() == [b"a\x81b"]
