"""Frames: polars as it is, pandas by conversion, Parquet through polars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    """Return a pandas frame as polars', or None where only dicts can carry it."""
    try:
        converted = pl.from_pandas(frame)
    except Exception:  # whatever the conversion dislikes
        return None
    return None if any(k in (pl.Object, pl.Binary) for k in converted.dtypes) else converted
