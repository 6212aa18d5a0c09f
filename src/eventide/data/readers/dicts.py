"""Lists of dicts: plain messages or a platform's own objects, already parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from eventide.data.batch import Batch, rejects
from eventide.data.names import Columns
from eventide.data.platforms import plain_records
from eventide.data.readers.encodings import TextEncoding
from eventide.data.records import Record, as_text, batch_of

BATCH = 20_000


def dict_batches(source: Sequence[Any], columns: Columns) -> Iterator[Batch]:
    """Yield the batches of a list of dicts; an item that is no dict is rejected."""
    return record_batches(enumerate(source, start=1), columns)


def record_batches(
    numbered: Iterable[tuple[int, Any]],
    columns: Columns,
    *,
    texts: bool = False,
    encoding: TextEncoding | None = None,
) -> Iterator[Batch]:
    """Yield batches of numbered values, each a message or a platform's object, or each a text."""
    stream = iter(numbered)
    while some := list(islice(stream, BATCH)):
        records: list[tuple[int, Record]] = []
        odd: list[tuple[int, Any]] = []
        for row, value in some:
            if isinstance(value, Mapping) and not texts:
                records.extend((row, record) for record in plain_records(value))
            elif texts and (isinstance(value, str) or as_text(value) is None):
                records.append((row, {"text": value}))
            else:
                odd.append((row, value))
        kind = "a text" if texts else "an object"
        reasons = [f"not {kind} but {type(value).__name__}" for _, value in odd]
        refused = rejects([row for row, _ in odd], None, reasons, [str(v) for _, v in odd])
        batch = batch_of(records, columns, encoding=encoding)
        yield replace(batch, rejected=refused.vstack(batch.rejected))
