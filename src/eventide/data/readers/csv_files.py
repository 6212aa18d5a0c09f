"""CSV files: every record is counted, and one with too many or too few fields is rejected.

Rows are numbered as records after the header (a quoted field may span lines).
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from eventide.data.batch import Batch, rejects
from eventide.data.columns import Columns
from eventide.data.parsing.records import text_batch
from eventide.data.readers.encodings import TextEncoding
from eventide.data.readers.tables import renamed
from eventide.errors import InputError, UnreadableSource

BATCH = 50_000
SEPARATORS = ",;\t|"
EXCEL_SEPARATOR = re.compile(r'"?sep=(\\t|.)"?[,;]*', re.IGNORECASE)
QUOTED = re.compile(r'"[^"]*"')

Fields = list[str]


def csv_batches(
    stream: IO[bytes], path: Path, columns: Columns, encoding: TextEncoding
) -> Iterator[Batch]:
    """Yield the batches of a CSV file; the separator is the most frequent one of the header."""
    text = io.TextIOWrapper(stream, "utf-8", errors="surrogateescape", newline="")
    try:
        yield from _batches(text, path, columns, encoding)
    finally:
        text.detach()  # the stream belongs to the caller


def _batches(
    text: io.TextIOWrapper, path: Path, columns: Columns, encoding: TextEncoding
) -> Iterator[Batch]:
    first, separator = _first_line(text)
    header = _header(chain([first], text), separator, path, encoding)
    names = renamed(header, columns)
    indices = {names.get(name, name): at for at, name in enumerate(header)}
    kept = {name: indices[name] for name in columns.wanted() if name in indices}
    found = [*filter(None, header), *kept]
    rows: list[int] = []
    data: dict[str, list[str | None]] = {name: [] for name in kept}
    odd: list[tuple[int, str, str]] = []
    seen = 0
    for seen, (fields, fault) in enumerate(_records(text, separator), start=1):
        if fault is None and len(fields) != len(header):
            fault = _wrong_length(fields, header)
        if fault is not None:
            odd.append((seen, fault, separator.join(fields)))
        else:
            rows.append(seen)
            for name, at in kept.items():
                data[name].append(fields[at] or None)
        if seen % BATCH == 0:
            yield _batch(rows, data, odd, found, encoding)
            rows, data, odd = [], {name: [] for name in kept}, []
    if seen == 0:
        raise UnreadableSource(
            "the file has a header but no rows",
            where=str(path),
            next_step="check how it was written",
        )
    yield _batch(rows, data, odd, found, encoding)


def _batch(
    rows: list[int],
    data: dict[str, Any],
    odd: list[tuple[int, str, str]],
    found: list[str],
    encoding: TextEncoding,
) -> Batch:
    batch = text_batch(rows, data, found, encoding)
    refused = rejects([o[0] for o in odd], None, [o[1] for o in odd], [o[2] for o in odd])
    return Batch(batch.frame, found, refused.vstack(batch.rejected), closed=True)


def _first_line(text: io.TextIOWrapper) -> tuple[str, str]:
    """Return the header's first line and the separator, which Excel may state in a line before."""
    first = _nonblank_line(text)
    stated = EXCEL_SEPARATOR.fullmatch(first.rstrip("\r\n"))
    if stated:
        return _nonblank_line(text), stated[1].replace("\\t", "\t")
    bare = QUOTED.sub("", first)
    return first, max(SEPARATORS, key=bare.count)


def _nonblank_line(text: io.TextIOWrapper) -> str:
    line = text.readline(1_000_000)
    while line and not line.strip():
        line = text.readline(1_000_000)
    return line


def _wrong_length(fields: Fields, header: Fields) -> str | None:
    """Return the reason for rejecting a record by its length; extra empty fields are allowed."""
    if len(fields) > len(header) and not any(fields[len(header) :]):
        return None
    return f"{len(fields)} fields where the header has {len(header)}"


def _header(lines: Iterator[str], separator: str, path: Path, encoding: TextEncoding) -> Fields:
    try:
        header = [
            _decoded(n.strip(), encoding) for n in next(csv.reader(lines, delimiter=separator), [])
        ]
    except csv.Error:
        header = []
    if not any(header) or any("\x00" in name or not _is_text(name) for name in header):
        raise UnreadableSource(
            "the first line is no header of a CSV file",
            where=str(path),
            next_step="begin the file with the names of its columns; if they are not in UTF-8,"
            " say so with --encoding (encoding=)",
        )
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputError(
            f"two columns of the header have one name: {', '.join(twice)}",
            where=str(path),
            next_step="rename one of them",
        )
    return header


def _decoded(name: str, encoding: TextEncoding) -> str:
    if _is_text(name):
        return name
    return encoding.decoded(name.encode("utf-8", "surrogateescape")) or name


def _is_text(name: str) -> bool:
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def _records(text: io.TextIOWrapper, separator: str) -> Iterator[tuple[Fields, str | None]]:
    """Yield each record with the reason for rejecting it, or None; blank lines are skipped."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        lines.record.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield [lines.record[0]], f"broken CSV record ({error}){lines.reread_rest()}"
            continue
        if any(map(str.strip, fields)):  # spreadsheets write empty rows as separators
            yield fields, None


class _Lines:
    """Lines of the file; keeps those of the current record so that they can be read again.

    An unclosed quote extends over the following lines. Only the line with the quote is rejected and
    the others are read again. The number of times is limited, or a hostile file would take hours.
    """

    def __init__(self, text: io.TextIOWrapper) -> None:
        self.text = text
        self.record: list[str] = []
        self.pending: deque[str] = deque()
        self.rereads_left = 100

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self.pending.popleft() if self.pending else next(self.text)
        self.record.append(line)
        return line

    def reread_rest(self) -> str:
        """Read all lines but the first again; if no rereads are left, return how many are lost."""
        if len(self.record) == 1:
            return ""
        if self.rereads_left == 0:
            return f"; {len(self.record)} lines taken as one row"
        self.rereads_left -= 1
        self.pending.extendleft(reversed(self.record[1:]))
        return ""
