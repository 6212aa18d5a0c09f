"""Readers of dicts, of polars, pandas and Arrow frames, and of Parquet files."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

import polars as pl

from eventide.data.batch import ROW, Batch, rejects
from eventide.data.columns import Columns, plain_name
from eventide.data.parsing.records import Record, as_text, batch_of
from eventide.data.platforms import plain_records
from eventide.data.readers.encodings import TextEncoding
from eventide.errors import InputError, UnreadableSource

BATCH = 20_000


def dict_batches(source: Sequence[Any], columns: Columns) -> Iterator[Batch]:
    """Yield the batches of a list of dicts; an item that is not a dict is rejected."""
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


def renamed(names: list[str], columns: Columns) -> dict[str, str]:
    """Map headers to our names if only case, blanks or hyphens differ and no names collide."""
    wanted = set(columns.wanted())
    taken = set(names)
    found: dict[str, str] = {}
    for name in names:
        plain = plain_name(name)
        if name not in wanted and plain in wanted and plain not in taken:
            found[name] = plain
            taken.add(plain)
    return found


def frame_batches(frame: pl.DataFrame, columns: Columns) -> Iterator[Batch]:
    """Yield a polars frame as one batch; its rows are numbered from 1."""
    if frame.width == 0 or frame.is_empty():
        raise UnreadableSource("the frame has no rows", next_step="give at least one message")
    found = frame.columns
    frame = frame.rename(renamed(found, columns))
    kept = [name for name in columns.wanted() if name in frame.columns]
    rows = pl.int_range(1, len(frame) + 1, dtype=pl.Int64, eager=True).alias(ROW)
    raw = frame.select(kept) if kept else pl.DataFrame()
    numbered = raw.insert_column(0, rows) if kept else rows.to_frame()
    yield Batch(numbered, [*found, *kept], closed=True)


def pandas_batches(frame: Any, columns: Columns) -> Iterator[Batch]:
    """Yield a pandas frame; columns of mixed Python objects go through dicts."""
    frame = frame.rename(columns=str)
    if len(set(frame.columns)) < len(frame.columns):
        raise InputError("the pandas frame has two columns of one name", next_step="rename one")
    wanted = set(columns.wanted())
    names = list(frame.columns)
    kept = [n for n in names if n in wanted or plain_name(n) in wanted]
    if len(frame) == 0 or not kept:
        return frame_batches(pl.DataFrame({name: [None] * len(frame) for name in frame}), columns)
    frame = frame[kept].rename(columns=renamed(kept, columns))
    converted = _converted(frame)
    batches = (
        dict_batches(frame.to_dict("records"), columns)
        if converted is None
        else frame_batches(converted, columns)
    )
    return (replace(batch, found=[*names, *batch.found], closed=True) for batch in batches)


def _converted(frame: Any) -> pl.DataFrame | None:
    """Convert a pandas frame to polars; None if that is only possible through dicts."""
    try:
        converted = pl.from_pandas(frame)
    except Exception:  # any error of the conversion
        return None
    return None if any(k in (pl.Object, pl.Binary) for k in converted.dtypes) else converted


BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError)


def parquet_batches(
    stream: IO[bytes], path: Path, columns: Columns, *, whole: bool = False
) -> Iterator[Batch]:
    """Yield a Parquet file's rows; ``whole`` reads the stream instead of the path."""
    try:
        source = io.BytesIO(stream.read()) if whole else path
        names = list(pl.read_parquet_schema(source))
        wanted = set(columns.wanted())
        kept = [name for name in names if name in wanted or plain_name(name) in wanted]
        if isinstance(source, io.BytesIO):
            source.seek(0)
        frame = pl.read_parquet(source, columns=kept)
    except BROKEN as error:
        raise UnreadableSource(
            f"the Parquet file is damaged: {str(error).splitlines()[0][:200]}",
            where=str(path),
            next_step="write it again from its source",
        ) from None
    if not kept:
        lacking = dict.fromkeys(["text", *columns.absent(names)])
        raise columns.missing(list(lacking), names, str(path))
    for batch in frame_batches(frame, columns):
        yield replace(batch, found=names + [n for n in batch.found if n not in names])
