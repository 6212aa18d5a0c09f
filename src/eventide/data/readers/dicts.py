"""Lists of dicts: plain messages or a platform's own objects, already parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from eventide.data.batch import Batch, rejects
from eventide.data.names import Columns
from eventide.data.platforms import plain_records
from eventide.data.records import Record, batch_of
from eventide.errors import UnreadableSource

BATCH = 20_000


def dict_batches(source: Sequence[Any], columns: Columns) -> Iterator[Batch]:
    """Yield the batches of a list of dicts; an item that is no dict is rejected."""
    if len(source) == 0:
        raise UnreadableSource("the list of messages is empty", next_step="give at least one")
    return record_batches(enumerate(source, start=1), columns)


def record_batches(numbered: Iterable[tuple[int, Any]], columns: Columns) -> Iterator[Batch]:
    """Yield batches of numbered values, each a message or a platform's object."""
    stream = iter(numbered)
    while some := list(islice(stream, BATCH)):
        records: list[tuple[int, Record]] = []
        odd: list[tuple[int, Any]] = []
        for row, value in some:
            if isinstance(value, Mapping):
                records.extend((row, record) for record in plain_records(value))
            else:
                odd.append((row, value))
        reasons = [f"not an object but {type(value).__name__}" for _, value in odd]
        refused = rejects([row for row, _ in odd], None, reasons, [str(v) for _, v in odd])
        batch = batch_of(records, columns)
        yield Batch(batch.frame, batch.found, refused.vstack(batch.rejected))
