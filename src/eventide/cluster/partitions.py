"""Cuts files of messages into partitions, by the same readers as everywhere, in bounded memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from eventide.data.batch import ROW, Batch
from eventide.data.columns import Columns, plain_name
from eventide.data.intake import Intake
from eventide.data.parsing.date_strings import date_order
from eventide.data.parsing.time_strings import TimeReader
from eventide.data.readers import SourceFile, file_batches
from eventide.data.readers.encodings import checked_encoding
from eventide.data.readers.paths import STANDARD_INPUT, kind_of_name, paths_of
from eventide.data.readers.tables import BROKEN, frame_batches
from eventide.data.schema import REJECTED
from eventide.data.validation import UNREAD_DATES, Validator
from eventide.data.whole_source import collected
from eventide.errors import UnreadableSource
from eventide.storage import expanded

PARTITION_ROWS = 20_000
"""Rows from which on a partition is full."""

SLICE_ROWS = 20_000
"""Rows of a Parquet file that are read at once."""


@dataclass(frozen=True)
class FileReading:
    """How files are read: the columns' names, how times and texts are written."""

    columns: Mapping[str, str]
    remembered: Mapping[str, str]
    lists: Sequence[str]
    time_format: str | None = None
    day_first: bool | None = None
    encoding: str | None = None

    def plan(self) -> Columns:
        """Return the columns to look for; a model's own lists may be missing."""
        return Columns(dict(self.columns), tuple(self.lists), dict(self.remembered), False)

    def batches(self, path: Path, part: int) -> Iterator[Batch]:
        """Read the raw rows of a file, which is number ``part`` among the files."""
        source, encoding = SourceFile(path), checked_encoding(self.encoding)
        found = _parquet_slices(path, self.plan()) if kind_of_name(path) == "parquet" else None
        for batch in found or file_batches(source, self.plan(), encoding, named=True):
            yield batch.as_part(part)


@dataclass(frozen=True)
class Partition:
    """Consecutive raw rows of one file; ``day_first`` is what all dates of the file decide."""

    name: str
    batches: tuple[Batch, ...]
    day_first: bool | None = None

    def intake(self, reading: FileReading, files: Sequence[str]) -> Intake:
        """Validate the rows; ``files`` are the names of all files.

        Rows are quarantined as `eventide.read` does it. What takes all rows to decide is decided
        here by those of the partition: an id that a row of another one has is not noticed.
        """
        where = files[self.batches[0].part]
        times = TimeReader(reading.time_format, self.day_first)
        found = collected(
            self.batches, Validator(reading.plan(), where, times, files), need_time=False
        )
        rows = len(found.messages) + len(found.rejected)
        return Intake(found.messages, found.rejected, rows, where, found.notes)


@dataclass(frozen=True)
class ReadPartition:
    """Consecutive messages of a source that was read and validated as a whole."""

    name: str
    messages: pl.DataFrame

    def intake(self, reading: FileReading, files: Sequence[str]) -> Intake:
        """Return the messages; what could not be used was told when they were read."""
        return Intake(self.messages, pl.DataFrame(schema=REJECTED), len(self.messages))


def read_partitions(messages: pl.DataFrame, rows: int) -> Iterator[ReadPartition]:
    """Cut messages that were read as a whole into partitions of so many rows, in order."""
    for number, start in enumerate(range(0, len(messages), rows)):
        yield ReadPartition(_name(0, number), messages.slice(start, rows))


def partitions(
    path: Path,
    part: int,
    reading: FileReading,
    rows: int = PARTITION_ROWS,
    done: Collection[str] = (),
) -> Iterator[Partition]:
    """Yield the partitions of file number ``part`` in order, without those that are ``done``."""
    day_first = reading.day_first
    if day_first is None and reading.time_format is None:
        day_first = _date_order(path, part, reading)
    kept: list[Batch] = []
    held = number = 0
    for batch in reading.batches(path, part):
        for piece in _cut(batch, rows):
            kept.append(piece)
            held += len(piece.frame) + len(piece.rejected)
            if held >= rows:
                if (name := _name(part, number)) not in done:
                    yield Partition(name, tuple(kept), day_first)
                kept, held, number = [], 0, number + 1
    if (held or number == 0) and (name := _name(part, number)) not in done:
        yield Partition(name, tuple(kept), day_first)


def _cut(batch: Batch, rows: int) -> Iterator[Batch]:
    """Cut a batch of more than ``rows`` rows; what was rejected stays with the first ones."""
    nobody = batch.rejected.clear()
    for start in range(0, max(len(batch.frame), 1), rows):
        piece = batch.frame.slice(start, rows)
        yield replace(batch, frame=piece, rejected=nobody if start else batch.rejected)


def _parquet_slices(path: Path, columns: Columns) -> Iterator[Batch] | None:
    """Read a Parquet file slice by slice; None where only the usual reader knows what to say."""
    try:
        table = pl.scan_parquet(path)
        names = table.collect_schema().names()
        rows = table.select(pl.len()).collect().item()
    except (OSError, *BROKEN):
        return None
    wanted = set(columns.wanted())
    kept = [name for name in names if name in wanted or plain_name(name) in wanted]
    if not kept or rows <= SLICE_ROWS:
        return None
    return (
        replace(batch, frame=batch.frame.with_columns(pl.col(ROW) + start), found=[*names, *kept])
        for start in range(0, rows, SLICE_ROWS)
        for batch in frame_batches(
            table.select(kept).slice(start, SLICE_ROWS).collect(engine="streaming"), columns
        )
    )


def _name(part: int, number: int) -> str:
    return f"{part:05}-{number:05}"


def _date_order(path: Path, part: int, reading: FileReading) -> bool | None:
    """Say whether dates like 03/04/2013 are day first, where a file has them and decides it.

    A file whose first rows have no such dates is not read for it.
    """
    validator = Validator(reading.plan(), str(path), TimeReader(None, None), _Same(str(path)))
    for number, batch in enumerate(reading.batches(path, part)):
        sound, _ = validator.check(batch)
        if UNREAD_DATES in sound.columns:
            order = date_order(sound[UNREAD_DATES].drop_nulls())
            if order.day_first is not None:
                return order.day_first
        elif number == 0 and len(sound):
            return None
    return None


class _Same(Sequence[str]):
    """One name for files of any number."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, index: object) -> str:
        return self._name

    def __len__(self) -> int:
        return 1


def files_of(sources: Sequence[str | Path]) -> list[Path]:
    """List the files behind paths, patterns, folders and names of datasets, each once, in order.

    Of a folder these are all files below it that can be read, but hidden ones.
    """
    files: list[Path] = []
    for each in sources:
        path = expanded(each)
        if str(each) == STANDARD_INPUT:
            raise UnreadableSource(
                "standard input cannot be read in partitions",
                next_step="give files, or write one file: --out opinions.parquet",
            )
        if path.is_dir():
            found = sorted(below for below in path.rglob("*") if _readable(below, path))
            if not found:
                raise UnreadableSource(
                    "no file in the folder can be read",
                    where=str(path),
                    next_step="give a folder of CSV, JSONL, JSON or Parquet files",
                )
            files += found
        else:
            files += paths_of(str(each))
    return list(dict.fromkeys(files))


def _readable(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return not hidden and path.is_file() and kind_of_name(path) is not None


def frame_bytes(frame: pl.DataFrame) -> bytes:
    """Write a frame as Arrow bytes, to be sent to another process."""
    return frame.write_ipc(None).getvalue()
