"""Frames: polars as it is, pandas by conversion, Parquet through polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from eventide.data.batch import ROW, Batch
from eventide.data.names import Columns, plain_name
from eventide.data.readers.dicts import dict_batches
from eventide.errors import InputError, UnreadableSource


def renamed(names: list[str], columns: Columns) -> dict[str, str]:
    """Map headers to the names we look for where only spelling differs and nothing collides."""
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
    yield Batch(raw.insert_column(0, rows) if kept else rows.to_frame(), [*found, *kept])


def pandas_batches(frame: Any, columns: Columns) -> Iterator[Batch]:
    """Yield a pandas frame; columns of mixed Python objects go through dicts."""
    frame = frame.rename(columns=str)
    if len(set(frame.columns)) < len(frame.columns):
        raise InputError("the pandas frame has two columns of one name", next_step="rename one")
    wanted = set(columns.wanted())
    kept = [n for n in frame.columns if n in wanted or plain_name(n) in wanted]
    if len(frame) == 0 or not kept:
        return frame_batches(pl.DataFrame({name: [None] * len(frame) for name in frame}), columns)
    frame = frame[kept].rename(columns=renamed(kept, columns))
    try:
        converted = pl.from_pandas(frame)
    except Exception:  # whatever the conversion dislikes, dicts can carry
        return dict_batches(frame.to_dict("records"), columns)
    if any(kind in (pl.Object, pl.Binary) for kind in converted.dtypes):
        return dict_batches(frame.to_dict("records"), columns)
    return frame_batches(converted, columns)
