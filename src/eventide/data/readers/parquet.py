"""Parquet files, through polars; only the columns we know are read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import polars as pl

from eventide.data.batch import Batch
from eventide.data.names import Columns, plain_name
from eventide.data.readers.frames import frame_batches
from eventide.errors import UnreadableSource

BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError)


def parquet_batches(
    stream: IO[bytes], path: Path, columns: Columns, *, whole: bool = False
) -> Iterator[Batch]:
    """Yield a Parquet file's rows; ``whole`` reads the stream, where the file is no plain file."""
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
