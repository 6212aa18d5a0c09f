"""JSON documents: an array, a platform's page, or an object, read item by item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.batch import Batch, rejects
from eventide.data.columns import Columns
from eventide.data.readers.encodings import TextEncoding
from eventide.data.readers.json_values import DECODER, why_not_json
from eventide.data.readers.tables import record_batches

NON_BLANK = re.compile(rb"\S")
ARRAY_OF_OBJECTS = re.compile(rb"\[\s*\{")


def is_document(first: bytes, path: Path) -> bool:
    """Tell a document from lines: its first line is not a complete value, or is the only line."""
    start = NON_BLANK.search(first)
    if start is None:
        return False
    end = first.find(b"\n", start.end()) % (len(first) + 1)  # -1 (no newline) becomes the end
    complete = _complete(first[start.start() : end])
    plainly_json = path.name.lower().removesuffix(".gz").endswith(".json")
    if start.group() == b"[":
        if complete:
            return NON_BLANK.search(first, end) is None
        # If the name does not end in .json, "[oops" is a bad line, not a broken array.
        return plainly_json or ARRAY_OF_OBJECTS.match(first, start.start()) is not None
    return plainly_json and start.group() == b"{" and not complete


def _complete(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def record_batches_of_document(
    content: bytes, columns: Columns, encoding: TextEncoding
) -> Iterator[Batch]:
    """Yield the messages of a document; after a syntax error the rest is one rejected row."""
    broken: list[pl.DataFrame] = []
    text = content.decode("utf-8", "surrogateescape")
    yield from record_batches(_items(text, broken), columns, encoding=encoding)
    for table in broken:
        yield Batch(pl.DataFrame(), [], table)


def _items(text: str, broken: list[pl.DataFrame]) -> Iterator[tuple[int, Any]]:
    at = len(text) - len(text.lstrip())
    array = text[at : at + 1] == "["
    at += array
    row = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at == len(text) or (array and text[at] == "]" and not text[at + 1 :].strip()):
            if array and at == len(text):
                broken.append(rejects([row + 1], None, ["the array does not end"], [""]))
            return
        row += 1
        try:
            value, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            left = f"{why_not_json(error)}; the rest of the file ({len(text) - at:,} characters)"
            reason = f"{left} cannot be read"
            broken.append(rejects([row], None, [reason], [text[at : at + 200]]))
            return
        yield row, value
