"""Finds the files of a source, and the format of each by its name and first bytes."""

from __future__ import annotations

import codecs
import glob
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eventide.errors import UnreadableSource

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
FOREIGN = {
    b"PK\x03\x04": "a ZIP archive or a spreadsheet (XLSX, ODS)",
    b"%PDF": "a PDF document",
    b"\x93NUMPY": "a NumPy array",
    b"\x80\x02": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"SQLite format 3": "a SQLite database",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"ARROW1": "an Arrow file",
    b"\xd0\xcf\x11\xe0": "an old Office document (XLS)",
    b"\x1f\x8b": "a gzip archive inside a gzip archive",
}
BOMS = {  # the longer marks first: UTF-32's begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8",
}
EXPORTS = {
    b"PK\x03\x04": "open it in the spreadsheet and save it as CSV (in Excel: Save As, CSV UTF-8);"
    " unpack a ZIP archive",
    b"\xd0\xcf\x11\xe0": "open it in the spreadsheet and save it as CSV (in Excel: CSV UTF-8)",
}
"""Advice for files that another program can export."""
WEB_PAGE = re.compile(rb"\s*<(!doctype|html|head|\?xml|!--)", re.IGNORECASE)
JSON_START = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{"\]])')


def kind_of_name(path: Path) -> str | None:
    """Return the format by the file's name: csv, json or parquet; None if unknown."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return SUFFIXES.get(name.suffix.lower())


def kind_of_content(head: bytes) -> str | None:
    """Return the format by the first bytes; ``text`` may be any text format, None is unsupported.

    >>> kind_of_content(b'{"id": 1}'), kind_of_content(b"id,text"), kind_of_content(b"<html>")
    ('json', 'text', None)
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if _foreign(head):
        return None
    plain = head.removeprefix(codecs.BOM_UTF8)
    return "json" if JSON_START.match(plain) else "text"


def describe(head: bytes) -> str:
    """Describe the format of the first bytes, for an error."""
    kind = kind_of_content(head)
    names = {"parquet": "Parquet", "json": "JSON", "text": "text"}
    return names[kind] if kind else _foreign(head) or "something else"


def _foreign(head: bytes) -> str | None:
    if WEB_PAGE.match(head.removeprefix(codecs.BOM_UTF8)):
        return "a web page (HTML or XML)"
    return next((name for mark, name in FOREIGN.items() if head.startswith(mark)), None)


def export_of(head: bytes) -> str | None:
    """Return advice on exporting a spreadsheet or archive, or None."""
    return next((step for mark, step in EXPORTS.items() if head.startswith(mark)), None)


def marked_encoding(head: bytes) -> str | None:
    """Return the encoding of a byte order mark, or None."""
    return next((name for mark, name in BOMS.items() if head.startswith(mark)), None)


def without_mark(stream: io.BufferedReader) -> io.BufferedReader:
    """Skip the byte order mark of UTF-8, if there is one."""
    if stream.peek(3).startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
    return stream


def check_wide(head: bytes, path: Path) -> None:
    """Raise for UTF-16 text without a byte order mark."""
    if max(head[0::2].count(0), head[1::2].count(0)) * 5 > len(head):
        raise UnreadableSource(
            "the text is full of NUL bytes: UTF-16 without a byte order mark, or no text",
            where=str(path),
            next_step="--encoding utf-16-le, or utf-16-be, reads it (encoding= in Python)",
        )


STANDARD_INPUT = "-"
LONGEST_PATH = 4096


def paths_of(source: str | os.PathLike[str]) -> list[Path]:
    """Resolve a source to paths: an existing path, a pattern, or the name of a built dataset."""
    path = Path(source).expanduser()
    if str(source) == STANDARD_INPUT or _exists(path):
        return [path]
    if glob.has_magic(str(path)):
        matches = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        files = [match for match in matches if match.is_file()]
        if not files:
            raise UnreadableSource(
                "no file matches the pattern", where=str(path), next_step="check the pattern"
            )
        return files
    if isinstance(source, str) and path.name == source and not path.suffix:
        from eventide.data.datasets import registered_path

        registered: Path | None = registered_path(source)
        if registered is not None:
            return [registered]
        raise UnreadableSource(
            f"no file and no built dataset is called {source!r}",
            next_step="check the spelling, or see `eventide data list` for the datasets;"
            " a text goes into a list: [text]",
        )
    raise UnreadableSource("there is no such file", where=str(path), next_step="check the path")


def are_paths(source: Any) -> bool:
    """Tell a list of files from a list of texts: `Path` objects, or strings that are all files.

    If some strings are files and others are not, missing files are an error.
    """
    if not isinstance(source, Sequence) or not source:
        return False
    if any(isinstance(each, os.PathLike) for each in source):
        return all(isinstance(each, (str, os.PathLike)) for each in source)
    if not isinstance(source[0], str) or not all(isinstance(each, str) for each in source):
        return False
    if not any(_looks_like_a_file(each) for each in (source[0], source[-1])):
        return False
    there = [each for each in source if _is_file(each)]
    lost = [each for each in source if not _is_file(each)]
    if lost and (there or all(map(_looks_like_a_file, source))):
        raise UnreadableSource(
            "there is no such file"
            if len(lost) == 1
            else f"{len(lost)} of the files are not there",
            where=lost[0],
            next_step="check the paths; texts that are meant as texts go into dicts: {'text': ...}",
        )
    return not lost


def _looks_like_a_file(text: str) -> bool:
    return _is_file(text) or (not any(map(str.isspace, text)) and bool(kind_of_name(Path(text))))


def _is_file(text: str) -> bool:
    """Tell whether the file exists, or any file that matches the pattern."""
    if len(text) >= LONGEST_PATH:
        return False
    try:
        path = Path(text).expanduser()
        return path.is_file() or (glob.has_magic(text) and any(glob.iglob(str(path))))
    except (OSError, ValueError, RuntimeError, re.error):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        raise UnreadableSource(
            "not a usable path", where=ascii(str(path))[:200], next_step="check the path"
        ) from None
