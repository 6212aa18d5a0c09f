"""What a file is, by its name and by its first bytes."""

from __future__ import annotations

import codecs
import io
import re
from pathlib import Path
from typing import IO

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
    b"PK\x03\x04": "a ZIP archive or a spreadsheet",
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
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"\x1f\x8b": "a gzip archive inside a gzip archive",
}
BOMS = {  # the longer marks first: UTF-32's begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WEB_PAGE = re.compile(rb"\s*<(!doctype|html|head|\?xml|!--)", re.IGNORECASE)
JSON_START = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{"\]])')


def kind_of_name(path: Path) -> str | None:
    """Say what the name promises: csv, json or parquet; None if it promises nothing."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return SUFFIXES.get(name.suffix.lower())


def kind_of_content(head: bytes) -> str | None:
    """Say what the first bytes show; ``text`` leaves the choice to the name, None is foreign.

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
    """Name what the first bytes show, for a message."""
    kind = kind_of_content(head)
    names = {"parquet": "Parquet", "json": "JSON", "text": "text"}
    return names[kind] if kind else _foreign(head) or "something else"


def _foreign(head: bytes) -> str | None:
    if WEB_PAGE.match(head.removeprefix(codecs.BOM_UTF8)):
        return "a web page (HTML or XML)"
    return next((name for mark, name in FOREIGN.items() if head.startswith(mark)), None)


def transcoded(stream: io.BufferedReader, path: Path) -> IO[bytes]:
    """Return the stream as UTF-8 without a byte order mark; UTF-16 and UTF-32 are converted."""
    head = stream.peek(400)[:400]
    if head.startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
        return stream
    encoding = next((name for mark, name in BOMS.items() if head.startswith(mark)), None)
    if encoding is None:
        if max(head[0::2].count(0), head[1::2].count(0)) * 5 > len(head):
            raise UnreadableSource(
                "the text is full of NUL bytes: UTF-16 without a byte order mark, or no text",
                where=str(path),
                next_step="convert it: iconv -f UTF-16 -t UTF-8",
            )
        return stream
    try:
        text = stream.read().decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        raise UnreadableSource(
            f"the file starts as {encoding.upper()} but is not",
            where=str(path),
            next_step="save it as UTF-8",
        ) from None
    return io.BytesIO(text.encode("utf-8", "surrogatepass"))
