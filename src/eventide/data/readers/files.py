"""Files: what a file is, whether that is what its name says, and which reader takes it."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, cast

import polars as pl

from eventide.data.batch import Batch
from eventide.data.columns import Columns
from eventide.data.readers.encodings import TextEncoding, recoded
from eventide.data.readers.paths import (
    check_wide,
    describe,
    export_of,
    kind_of_content,
    kind_of_name,
    marked_encoding,
    without_mark,
)
from eventide.data.readers.pieces import pieces_of
from eventide.errors import UnreadableSource

READABLE = "CSV, JSONL, JSON or Parquet, the text ones also gzipped"
PIECE = 2**22


@dataclass(frozen=True)
class SourceFile:
    """A file by its path, or what was read from a stream, under the name to show for it."""

    path: Path
    content: bytes | None = None

    def open(self) -> io.BufferedReader:
        """Open it from its beginning."""
        if self.content is None:
            return self.path.open("rb")
        return io.BufferedReader(cast(io.RawIOBase, io.BytesIO(self.content)))

    def pieces(self) -> Iterator[bytes]:
        """Yield what it holds, unpacked, in pieces that end where lines end."""
        with self.open() as plain:
            yield from pieces_of(_unpacked(plain, self), PIECE)


def file_batches(
    source: SourceFile, columns: Columns, encoding: str | None = None, *, named: bool = False
) -> Iterator[Batch]:
    """Yield the batches of a file after checking that it is what it claims to be.

    ``named`` puts the file's name before its notes, where it is one of several.
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
    except UnicodeError:  # also of a codec that misses its byte order mark
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
