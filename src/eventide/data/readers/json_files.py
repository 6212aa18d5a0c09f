"""JSON files: a message per line, or one document (an array, a platform's page, one object)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import polars as pl

from eventide.data.batch import Batch, rejects
from eventide.data.columns import Columns
from eventide.data.readers.encodings import TextEncoding
from eventide.data.readers.json_lines import LineReader
from eventide.data.readers.json_values import DECODER, why_not_json
from eventide.data.readers.pieces import pieces_of
from eventide.data.readers.tables import record_batches
from eventide.errors import UnreadableSource

CHUNK = 16 * 2**20
INK = re.compile(rb"\S")
ARRAY_OF_OBJECTS = re.compile(rb"\[\s*\{")


def json_batches(
    stream: IO[bytes], path: Path, columns: Columns, encoding: TextEncoding
) -> Iterator[Batch]:
    """Yield the batches of a JSON file, however it is laid out."""
    pieces = pieces_of(stream, CHUNK)
    first = next(pieces, b"")
    batches = (
        record_batches_of_document(b"".join([first, *pieces]), columns, encoding)
        if _is_document(first, path)
        else LineReader(columns, encoding).batches(encoding.mended(chain([first], pieces)))
    )
    rows, seen, shown = 0, False, None
    for batch in batches:
        rows += len(batch.rejected)
        seen = seen or len(batch.frame) > 0
        shown = shown if shown is not None or batch.rejected.is_empty() else batch.rejected
        yield batch
    if seen:
        return
    if shown is None:
        raise UnreadableSource(
            "the file holds no message", where=str(path), next_step="check how it was written"
        )
    reason = shown.row(0, named=True)
    if shown["column"].null_count() == len(shown):
        raise UnreadableSource(
            f"none of the {rows} rows could be read; row {reason['row']}: {reason['reason']}",
            where=str(path),
            next_step="give one JSON object per line, in UTF-8 or with --encoding (encoding=)",
        )


def _is_document(first: bytes, path: Path) -> bool:
    """Tell one document from lines: its first line is no complete value, or is all there is."""
    start = INK.search(first)
    if start is None:
        return False
    end = first.find(b"\n", start.end()) % (len(first) + 1)  # -1, no newline: the very end
    complete = _complete(first[start.start() : end])
    plainly_json = path.name.lower().removesuffix(".gz").endswith(".json")
    if start.group() == b"[":
        if complete:
            return INK.search(first, end) is None
        # Under another name than .json, "[oops" is one bad line, not a broken array.
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
    """Yield the messages of a document; where it breaks off, the rest is one rejected row."""
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
