"""JSON files: one message per line, or one document (an array, a platform's page, an object)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO

from eventide.data.batch import Batch
from eventide.data.columns import Columns
from eventide.data.readers.encodings import TextEncoding
from eventide.data.readers.json_documents import is_document, record_batches_of_document
from eventide.data.readers.json_lines import LineReader
from eventide.data.readers.pieces import pieces_of
from eventide.errors import UnreadableSource

CHUNK = 16 * 2**20


def json_batches(
    stream: IO[bytes], path: Path, columns: Columns, encoding: TextEncoding
) -> Iterator[Batch]:
    """Yield the batches of a JSON file: lines, or one document."""
    pieces = pieces_of(stream, CHUNK)
    first = next(pieces, b"")
    batches = (
        record_batches_of_document(b"".join([first, *pieces]), columns, encoding)
        if is_document(first, path)
        else LineReader(columns, encoding).batches(encoding.reencoded(chain([first], pieces)))
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
