"""Files: what a file is, whether that is what its name says, and which reader takes it."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, cast

from eventide.data.batch import Batch
from eventide.data.names import Columns
from eventide.data.readers.sniffing import describe, kind_of_content, kind_of_name, transcoded
from eventide.errors import UnreadableSource

READABLE = "CSV, JSONL, JSON or Parquet, the text ones also gzipped"


def file_batches(path: Path, columns: Columns) -> Iterator[Batch]:
    """Yield the batches of a file after checking that it is what it claims to be."""
    if path.is_dir():
        raise UnreadableSource("a folder, not a file", where=str(path), next_step="name a file")
    try:
        with path.open("rb") as plain:
            yield from _batches(plain, path, columns)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UnreadableSource(
            "the gzip file is damaged or cut off",
            where=str(path),
            next_step="fetch it again; `gzip -t` tells whether a copy is whole",
        ) from None
    except OSError as error:
        raise UnreadableSource(
            f"cannot read the file: {error.strerror or error}",
            where=str(path),
            next_step="check the file and your permissions",
        ) from None


def _batches(plain: io.BufferedReader, path: Path, columns: Columns) -> Iterator[Batch]:
    stream = _unpacked(plain, path)
    head = stream.peek(4096)[:4096]
    if not head:
        raise UnreadableSource(
            "the file is empty", where=str(path), next_step="check how it was written"
        )
    named, content = kind_of_name(path), kind_of_content(head)
    kind = named or content
    if content is None or (named is not None and content not in ("text", named)):
        _refuse(path, named, head)
    if kind == "parquet":
        from eventide.data.readers.parquet import parquet_batches

        if content != "parquet":
            _refuse(path, named, head)
        return parquet_batches(stream, path, columns)
    text = transcoded(stream, path)
    if kind == "json":
        from eventide.data.readers.json_files import json_batches

        return json_batches(text, path, columns)
    from eventide.data.readers.csv_files import csv_batches

    return csv_batches(text, path, columns)


def _unpacked(plain: io.BufferedReader, path: Path) -> io.BufferedReader:
    packed = plain.peek(2)[:2] == b"\x1f\x8b"
    named = path.suffix.lower() == ".gz"
    if packed and not named:
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
        next_step=f"give {READABLE}, under a name that says so",
    )
