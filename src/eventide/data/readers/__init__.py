"""One reader per kind of source; ``batches_of`` chooses the one that fits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.batch import Batch
from eventide.data.columns import Columns
from eventide.data.readers.paths import STANDARD_INPUT, are_paths, paths_of
from eventide.errors import UnreadableSource

HINT = "give a path, a dataset's name, a frame, or a list of dicts or texts"
NO_LIST = (str, bytes, bytearray, Mapping, Set)
LOOKED_AT = 100  # items that tell texts from dicts


@dataclass(frozen=True)
class Given:
    """A source: what to call it, its rows in batches, and its files if it is several."""

    where: str
    batches: Iterator[Batch]
    files: tuple[str, ...] = ()


def batches_of(source: Any, columns: Columns, encoding: str | None = None) -> Given:
    """Find out what a source is and how to read it."""
    if isinstance(source, (str, os.PathLike)):
        return _of_files(paths_of(source), columns, encoding)
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        where = name if isinstance(name, str) else "the open file"
        return _of_content(source, where, columns, encoding)
    if are_paths(source):
        paths = chain.from_iterable(paths_of(each) for each in source)
        return _of_files(list(dict.fromkeys(paths)), columns, encoding)
    return _of_object(source, columns)


def _of_files(paths: list[Path], columns: Columns, encoding: str | None) -> Given:
    from eventide.data.readers.files import SourceFile, file_batches

    if str(paths[0]) == STANDARD_INPUT and len(paths) == 1:
        return _of_content(_standard_input(), "standard input", columns, encoding)
    if len(paths) == 1:
        return Given(str(paths[0]), file_batches(SourceFile(paths[0]), columns, encoding))
    files = tuple(map(str, paths))
    batches = (
        batch.as_part(part)
        for part, path in enumerate(paths)
        for batch in file_batches(SourceFile(path), columns, encoding, named=True)
    )
    shown = ", ".join(path.name for path in paths[:3])
    return Given(f"{len(paths)} files ({shown}{', ...' if len(paths) > 3 else ''})", batches, files)


def _standard_input() -> Any:
    if sys.stdin is None or sys.stdin.closed:
        raise UnreadableSource("standard input is closed", next_step="give a file")
    return sys.stdin.buffer


def _of_content(stream: Any, where: str, columns: Columns, encoding: str | None) -> Given:
    from eventide.data.readers.files import SourceFile, file_batches

    content = stream.read()
    if isinstance(content, str):
        content, encoding = content.encode("utf-8", "surrogatepass"), "utf-8"
    if not isinstance(content, bytes):
        raise UnreadableSource(f"cannot read messages from {where}", next_step=HINT)
    return Given(where, file_batches(SourceFile(Path(where), content), columns, encoding))


def _of_object(source: Any, columns: Columns) -> Given:
    from eventide.data.readers.tables import frame_batches, pandas_batches

    library = type(source).__module__.partition(".")[0]
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return Given("the polars frame", frame_batches(source, columns))
    if library == "pandas" and hasattr(source, "columns"):
        return Given("the pandas frame", pandas_batches(source, columns))
    if isinstance(source, pl.Series) or library == "pandas":
        return Given("the series of texts", _items(source, columns))
    if library == "pyarrow" and hasattr(source, "to_pylist") and not hasattr(source, "columns"):
        return Given("the array of texts", _items(source.to_pylist(), columns))
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return Given("the Arrow table", frame_batches(_arrow(source), columns))
    if library == "numpy" and getattr(source, "ndim", 0) == 1:
        return Given("the array of texts", _items(source.tolist(), columns))
    if isinstance(source, Iterable) and not isinstance(source, NO_LIST) and library != "numpy":
        kind = "list" if isinstance(source, Sequence) else "iterator"
        return Given(f"the {kind} of messages", _items(source, columns))
    hint = "put the message into a list: [message]" if isinstance(source, Mapping) else HINT
    raise UnreadableSource(f"cannot read messages from {type(source).__name__}", next_step=hint)


def _items(source: Iterable[Any], columns: Columns) -> Iterator[Batch]:
    """Yield the batches of dicts or of texts, whichever the first of them are."""
    from eventide.data.readers.tables import record_batches

    stream = iter(source)
    first = list(islice(stream, LOOKED_AT))
    if not first:
        raise UnreadableSource("there is no message in it", next_step="give at least one")
    texts = any(isinstance(item, str) for item in first) and not any(
        isinstance(item, Mapping) for item in first
    )
    return record_batches(enumerate(chain(first, stream), start=1), columns, texts=texts)


def _arrow(source: Any) -> pl.DataFrame:
    try:
        found = pl.DataFrame(source)
    except Exception as error:  # whatever polars dislikes, in the words it has for it
        reason = str(error).splitlines()[0][:200]
        raise UnreadableSource(f"cannot read the table: {reason}", next_step=HINT) from None
    return found
