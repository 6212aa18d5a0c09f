"""One reader per kind of source; ``batches_of`` chooses the one that fits."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.batch import Batch
from eventide.data.names import Columns
from eventide.errors import UnreadableSource


def batches_of(source: Any, columns: Columns) -> tuple[str, Iterator[Batch]]:
    """Return a name for the source, to show in messages, and its rows in batches."""
    if isinstance(source, (str, os.PathLike)):
        from eventide.data.readers.files import file_batches

        path = _path_of(source)
        return str(path), file_batches(path, columns)
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        from eventide.data.readers.frames import frame_batches

        return "the polars frame", frame_batches(source, columns)
    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns"):
        from eventide.data.readers.frames import pandas_batches

        return "the pandas frame", pandas_batches(source, columns)
    if isinstance(source, Sequence) and not isinstance(source, (bytes, bytearray)):
        from eventide.data.readers.dicts import dict_batches

        return "the list of messages", dict_batches(source, columns)
    if isinstance(source, Mapping):
        hint = "put the message into a list: [message]"
    else:
        hint = "give a path, a dataset's name, a pandas or polars frame, or a list of dicts"
    raise UnreadableSource(f"cannot read messages from {type(source).__name__}", next_step=hint)


def _path_of(source: str | os.PathLike[str]) -> Path:
    """Take an existing path as it is; a bare word may be the name of a built dataset."""
    path = Path(source).expanduser()
    try:
        if path.exists():
            return path
    except (OSError, ValueError):
        raise UnreadableSource("not a usable path", where=ascii(str(source))[:200]) from None
    if isinstance(source, str) and path.name == source and not path.suffix:
        from eventide.data.datasets import registered_path

        registered: Path | None = registered_path(source)
        if registered is not None:
            return registered
        raise UnreadableSource(
            f"no file and no built dataset is called {source!r}",
            next_step="check the spelling, or see `eventide data list` for the datasets",
        )
    raise UnreadableSource("there is no such file", where=str(path), next_step="check the path")
