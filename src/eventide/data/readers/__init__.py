"""Reads any source of messages in batches; ``batches_of`` chooses the reader that fits."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn, cast

import polars as pl

from eventide.data.batch import Batch
from eventide.data.columns import Columns
from eventide.data.readers.encodings import TextEncoding, recoded
from eventide.data.readers.paths import (
    STANDARD_INPUT,
    are_paths,
    check_wide,
    describe,
    export_of,
    kind_of_content,
    kind_of_name,
    marked_encoding,
    paths_of,
    without_mark,
)
from eventide.data.readers.pieces import pieces_of
from eventide.errors import UnreadableSource

READABLE = "CSV, JSONL, JSON or Parquet, the text ones also gzipped"
PIECE = 2**22  # bytes
HINT = "give a path, a dataset's name, a frame, or a list of dicts or texts"
NO_LIST = (str, bytes, bytearray, Mapping, Set)
PROBED = 100  # items probed to tell texts from dicts


@dataclass(frozen=True)
class Source:
    """An opened source: its name for messages, its batches, and its files if there are several."""

    where: str
    batches: Iterator[Batch]
    files: tuple[str, ...] = ()


def batches_of(source: Any, columns: Columns, encoding: str | None = None) -> Source:
    """Find the type of a source and open it with the reader that fits."""
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


def _of_files(paths: list[Path], columns: Columns, encoding: str | None) -> Source:
    if str(paths[0]) == STANDARD_INPUT and len(paths) == 1:
        return _of_content(_standard_input(), "standard input", columns, encoding)
    if len(paths) == 1:
        return Source(str(paths[0]), file_batches(SourceFile(paths[0]), columns, encoding))
    files = tuple(map(str, paths))
    batches = (
        batch.as_part(part)
        for part, path in enumerate(paths)
        for batch in file_batches(SourceFile(path), columns, encoding, named=True)
    )
    shown = ", ".join(path.name for path in paths[:3])
    return Source(
        f"{len(paths)} files ({shown}{', ...' if len(paths) > 3 else ''})", batches, files
    )


def _standard_input() -> Any:
    if sys.stdin is None or sys.stdin.closed:
        raise UnreadableSource("standard input is closed", next_step="give a file")
    return sys.stdin.buffer


def _of_content(stream: Any, where: str, columns: Columns, encoding: str | None) -> Source:
    content = stream.read()
    if isinstance(content, str):
        content, encoding = content.encode("utf-8", "surrogatepass"), "utf-8"
    if not isinstance(content, bytes):
        raise UnreadableSource(f"cannot read messages from {where}", next_step=HINT)
    return Source(where, file_batches(SourceFile(Path(where), content), columns, encoding))


def _of_object(source: Any, columns: Columns) -> Source:
    from eventide.data.readers.tables import frame_batches, pandas_batches

    library = type(source).__module__.partition(".")[0]
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, pl.DataFrame):
        return Source("the polars frame", frame_batches(source, columns))
    if library == "pandas" and hasattr(source, "columns"):
        return Source("the pandas frame", pandas_batches(source, columns))
    if isinstance(source, pl.Series) or library == "pandas":
        return Source("the series of texts", _items(source, columns))
    if library == "pyarrow" and hasattr(source, "to_pylist") and not hasattr(source, "columns"):
        return Source("the array of texts", _items(source.to_pylist(), columns))
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return Source("the Arrow table", frame_batches(_arrow(source), columns))
    if library == "numpy" and getattr(source, "ndim", 0) == 1:
        return Source("the array of texts", _items(source.tolist(), columns))
    if isinstance(source, Iterable) and not isinstance(source, NO_LIST) and library != "numpy":
        kind = "list" if isinstance(source, Sequence) else "iterator"
        return Source(f"the {kind} of messages", _items(source, columns))
    hint = "put the message into a list: [message]" if isinstance(source, Mapping) else HINT
    raise UnreadableSource(f"cannot read messages from {type(source).__name__}", next_step=hint)


def _items(source: Iterable[Any], columns: Columns) -> Iterator[Batch]:
    """Yield batches of dicts or of texts, by the type of the first items."""
    from eventide.data.readers.tables import record_batches

    stream = iter(source)
    first = list(islice(stream, PROBED))
    if not first:
        raise UnreadableSource("there is no message in it", next_step="give at least one")
    texts = any(isinstance(item, str) for item in first) and not any(
        isinstance(item, Mapping) for item in first
    )
    return record_batches(enumerate(chain(first, stream), start=1), columns, texts=texts)


def _arrow(source: Any) -> pl.DataFrame:
    try:
        found = pl.DataFrame(source)
    except Exception as error:  # any error of the conversion
        reason = str(error).splitlines()[0][:200]
        raise UnreadableSource(f"cannot read the table: {reason}", next_step=HINT) from None
    return found


@dataclass(frozen=True)
class SourceFile:
    """A file by its path, or the content of a stream with a name to show."""

    path: Path
    content: bytes | None = None

    def open(self) -> io.BufferedReader:
        """Open it from its beginning."""
        if self.content is None:
            return self.path.open("rb")
        return io.BufferedReader(cast(io.RawIOBase, io.BytesIO(self.content)))

    def pieces(self) -> Iterator[bytes]:
        """Yield the decompressed content in pieces that end at line ends."""
        with self.open() as plain:
            yield from pieces_of(_unpacked(plain, self), PIECE)


def file_batches(
    source: SourceFile, columns: Columns, encoding: str | None = None, *, named: bool = False
) -> Iterator[Batch]:
    """Yield the batches of a file after checking that its content matches its name.

    ``named`` puts the file's name before its notes, for one of several files.
    """
    where = str(source.path)
    if source.content is None and source.path.is_dir():
        raise UnreadableSource(
            "a folder, not a file",
            where=where,
            next_step=f"name a file, or a pattern such as '{source.path}/*.jsonl'",
        )
    try:
        with source.open() as plain:
            for batch in _batches(plain, source, columns, encoding):
                notes = tuple(f"{where}: {note}" if named else note for note in batch.notes)
                yield replace(batch, notes=notes)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UnreadableSource(
            "the gzip file is damaged or cut off",
            where=where,
            next_step="fetch it again; `gzip -t` tells whether a copy is whole",
        ) from None
    except UnicodeError:  # also raised by a codec without its byte order mark
        raise UnreadableSource(
            "the file is not in the encoding that it should be in, or breaks off",
            where=where,
            next_step="name its encoding with --encoding (encoding=), or save it as UTF-8",
        ) from None
    except OSError as error:
        raise UnreadableSource(
            f"cannot read the file: {error.strerror or error}",
            where=where,
            next_step="check the file and your permissions",
        ) from None


def _batches(
    plain: io.BufferedReader, source: SourceFile, columns: Columns, said: str | None
) -> Iterator[Batch]:
    path = source.path
    stream = _unpacked(plain, source)
    head = stream.peek(4096)[:4096]
    if not head:
        raise UnreadableSource(
            "the file is empty", where=str(path), next_step="check how it was written"
        )
    named, content = kind_of_name(path), kind_of_content(head)
    if content is None or (content == "parquet" and named not in (None, "parquet")):
        _refuse(path, named, head)
    if content == "parquet":
        from eventide.data.readers.tables import parquet_batches

        whole = source.content is not None or stream is not plain
        yield from parquet_batches(stream, path, columns, whole=whole)
        return
    marked = marked_encoding(head)
    encoding = marked or said
    if encoding is None:
        check_wide(head[:400], path)
    elif encoding != "utf-8":
        stream = recoded(stream, encoding)
    text = without_mark(stream)
    head = text.peek(4096)[:4096]
    content = kind_of_content(head)
    if named == "parquet" or (named is not None and content not in ("text", named)):
        _refuse(path, named, head)
    decoding = TextEncoding(encoding, source.pieces)
    if (named or content) == "json":
        from eventide.data.readers.json_files import json_batches

        yield from json_batches(text, path, columns, decoding)
    else:
        from eventide.data.readers.csv_files import csv_batches

        yield from csv_batches(text, path, columns, decoding)
    notes = decoding.notes()
    if marked and said not in (None, marked):
        notes = (f"the file's byte order mark says {marked}, so it was not read as {said}",)
    yield Batch(pl.DataFrame(), [], notes=notes)


def _unpacked(plain: io.BufferedReader, source: SourceFile) -> io.BufferedReader:
    path = source.path
    packed = plain.peek(2)[:2] == b"\x1f\x8b"
    named = path.suffix.lower() == ".gz"
    if packed and not named and source.content is None:
        raise UnreadableSource(
            "the file is gzipped, but its name does not say so",
            where=str(path),
            next_step=f"rename it to {path.name}.gz",
        )
    if named and not packed and plain.peek(1):
        raise UnreadableSource(
            "the name ends in .gz, but the file is not gzipped",
            where=str(path),
            next_step=f"rename it to {path.stem}",
        )
    if not packed:
        return plain
    return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=plain)))


def _refuse(path: Path, named: str | None, head: bytes) -> NoReturn:
    says = f", although it is named {''.join(path.suffixes[-2:])}" if named else ""
    raise UnreadableSource(
        f"the file holds {describe(head)}{says}",
        where=str(path),
        next_step=export_of(head) or f"give {READABLE}, under a name that says so",
    )
