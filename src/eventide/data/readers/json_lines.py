"""JSON Lines at the speed of polars' own reader, without losing or bending a line.

A chunk of the file goes to polars with a fixed schema. Only if polars refuses it are its lines
sifted (a vectorised JSON check) and the refused ones read one by one in Python. polars bends two
things silently, which are therefore looked for first: lone surrogates become NUL, and long ids
written as floats become integers.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate

import polars as pl

from eventide.data.batch import ROW, Batch, rejects
from eventide.data.names import Columns
from eventide.data.platforms import is_platform, plain_records
from eventide.data.readers.json_values import decode_line
from eventide.data.readers.pieces import line_count, pieces_of
from eventide.data.records import Record, batch_of

SAMPLE = 50
TEXT = pl.String()
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
BENT = re.compile(
    rb"\\u(?:0000|[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F]))"
)
SHAPED = re.compile(rb"\s*\{.*\}\s*\Z", re.DOTALL)
BLOCK = 128 * 2**10
WORKERS = min(4, os.cpu_count() or 1)
Line = tuple[int, bytes]
Sorted = tuple[pl.DataFrame, list[Line], list[Line]]
"""What was read, the lines it came from, and the lines that need care."""


class LineReader:
    """Reads chunks of lines into batches; rows are numbered by their line in the file."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.found: list[str] = []  # keys of the objects looked at
        self.listed: set[str] = set()  # keys whose value was a list somewhere
        self.textual: set[str] = set()  # keys whose value was text somewhere
        self.platform = False
        self.bare_ids = False  # ids are numbers, not strings
        names = [re.escape(json.dumps(name).encode()) for name in columns.candidates("id")]
        self.bare_id = re.compile(rb"(?:" + b"|".join(names) + rb")\s*:\s*-?\d")
        self.float_id = re.compile(self.bare_id.pattern + rb"+[.eE]")
        self.rough = False  # the last chunk held bad lines

    def batches(self, pieces: Iterable[bytes]) -> Iterator[Batch]:
        """Yield a batch per chunk, and a second one for lines that needed care."""
        start = 1
        for piece in filter(None, pieces):
            self._look_at(piece)
            if self.platform:
                yield self._careful(_lines(piece, start))
            else:
                yield from self._batches(piece, start)
            start += line_count(piece)

    def _batches(self, piece: bytes, start: int) -> Iterator[Batch]:
        # After a chunk with bad lines the next one will hold some too: why try it whole?
        whole = None if self.rough else self._smooth(piece)
        if whole is not None:
            yield Batch(whole.insert_column(0, _numbers(start, len(whole))), self.found)
            return
        blocks = list(pieces_of(io.BytesIO(piece), BLOCK))
        starts = accumulate((line_count(block) for block in blocks[:-1]), initial=start)
        with ThreadPoolExecutor(WORKERS) as workers:  # a block is too small for polars' own threads
            parts = list(workers.map(self._block, blocks, starts))
        whole_parts = [part for part in parts if part is not None]
        if len(whole_parts) < len(parts):
            # Lists here, strings there: all are read as text from now on.
            self.textual.update(self._schema())
            yield from self._batches(piece, start)
            return
        odd = [line for part in whole_parts for line in part[1]]
        self.rough = bool(odd)
        yield Batch(pl.concat([part[0] for part in whole_parts], rechunk=True), self.found)
        if odd:
            yield self._careful(odd)

    def _block(self, block: bytes, start: int) -> tuple[pl.DataFrame, list[Line]] | None:
        """Read a block with its row numbers, odd lines apart; None if only text would fit."""
        frame = self._smooth(block)
        if frame is not None:
            return frame.insert_column(0, _numbers(start, len(frame))), []
        read = _sorted(_lines(block, start), self._bent(block), self._schema())
        if read is None:
            return None
        frame, sound, odd = read
        rows = pl.Series(ROW, [row for row, _ in sound], dtype=pl.Int64)
        return frame.insert_column(0, rows), odd

    def _smooth(self, piece: bytes) -> pl.DataFrame | None:
        """Read lines at full speed; None if anything about them needs care."""
        return None if self._bent(piece) else _fast(piece, line_count(piece), self._schema())

    def _look_at(self, piece: bytes) -> None:
        """Learn keys, kinds and platform from the first lines of the file, then of each chunk."""
        few = 1 if self.found else SAMPLE
        first = piece.split(b"\n", few)[:few]
        self.bare_ids = self.bare_ids or any(self.bare_id.search(line) for line in first)
        decoded = [decode_line(line)[0] for line in first]
        records = [record for record in decoded if record is not None]
        self.found = list(dict.fromkeys([*self.found, *(str(k) for r in records for k in r)]))
        self.platform = self.platform or any(is_platform(record) for record in records)
        for record in records:
            self.listed |= {key for key, value in record.items() if isinstance(value, list)}
            self.textual |= {key for key, value in record.items() if isinstance(value, str)}

    def _bent(self, piece: bytes) -> list[re.Pattern[bytes]]:
        """Return the patterns of what polars would bend, if the chunk holds any."""
        bent = []
        if b"\\" in piece and b"\\u" in piece and BENT.search(piece):
            bent.append(BENT)
        if self.bare_ids and self.float_id.search(piece):
            bent.append(self.float_id)
        return bent

    def _schema(self) -> dict[str, pl.DataType]:
        """Choose lists where only lists were seen; everything else is read as text."""
        lists = {n for ours in self.columns.list_names for n in self.columns.candidates(ours)}
        kinds = dict.fromkeys(lists, pl.List(pl.String()))
        kinds |= dict.fromkeys(self.columns.candidates("vector"), pl.List(pl.Float32()))
        real = self.listed - self.textual
        names = self.columns.readable(self.found)
        return {name: kinds.get(name, TEXT) if name in real else TEXT for name in names}

    def _careful(self, lines: list[Line]) -> Batch:
        """Read line by line in Python."""
        records: list[tuple[int, Record]] = []
        odd: list[tuple[Line, str]] = []
        for row, line in lines:
            value, reason = decode_line(line)
            if value is None:
                odd.append(((row, line), reason))
            else:
                records.extend((row, record) for record in plain_records(value))
        batch = batch_of(records, self.columns, self.found if not self.platform else None)
        rows, values = [line[0] for line, _ in odd], [line[1] for line, _ in odd]
        refused = rejects(rows, None, [reason for _, reason in odd], values)
        return Batch(batch.frame, batch.found, refused.vstack(batch.rejected))


def _fast(content: bytes, count: int, schema: dict[str, pl.DataType]) -> pl.DataFrame | None:
    """Let polars read the lines; None if it refuses or does not give a row per line."""
    try:
        frame = pl.read_ndjson(content, schema=schema)
    except FAILURES:
        return None
    return frame if len(frame) == count else None


def _fast_lines(lines: list[Line], schema: dict[str, pl.DataType]) -> pl.DataFrame | None:
    if not lines:
        return pl.DataFrame(schema=schema)
    return _fast(b"\n".join([line for _, line in lines]), len(lines), schema)


def _lines(piece: bytes, start: int) -> list[Line]:
    return [(row, line) for row, line in enumerate(piece.split(b"\n"), start) if line.strip()]


def _numbers(start: int, count: int) -> pl.Series:
    return pl.int_range(start, start + count, dtype=pl.Int64, eager=True).alias(ROW)


def _sorted(
    lines: list[Line], bent: list[re.Pattern[bytes]], schema: dict[str, pl.DataType]
) -> Sorted | None:
    """Read a block, its odd lines apart; None if it would be sound with all columns as text."""
    lines, odd = _glanced(lines, bent)
    frame = _fast_lines(lines, schema)
    if frame is not None:
        return frame, lines, odd
    lines, refused = _sifted(lines)
    odd += refused
    frame = _fast_lines(lines, schema)
    if frame is not None:
        return frame, lines, odd
    texts: dict[str, pl.DataType] = dict.fromkeys(schema, TEXT)
    if texts != schema and _fast_lines(lines, texts) is not None:
        return None
    frame, lines, refused = _bisected(lines, schema)
    return frame, lines, odd + refused


def _glanced(lines: list[Line], bent: list[re.Pattern[bytes]]) -> tuple[list[Line], list[Line]]:
    """Set lines aside that cannot be objects in UTF-8 or that polars would bend."""
    out = {row for row, line in lines if not (SHAPED.match(line) and _is_utf8(line))}
    for pattern in bent:
        out |= {row for row, line in lines if pattern.search(line)}
    return [x for x in lines if x[0] not in out], [x for x in lines if x[0] in out]


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _sifted(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Part sound JSON from the rest by one vectorised look for any key at all."""
    texts = pl.Series([line.decode() for _, line in lines], dtype=pl.String)
    sound = texts.str.json_path_match("$.*").is_not_null().to_list()
    odd = [line for line, good in zip(lines, sound, strict=True) if not good]
    return [line for line, good in zip(lines, sound, strict=True) if good], odd


def _bisected(lines: list[Line], schema: dict[str, pl.DataType]) -> Sorted:
    """Halve what polars refuses until the single lines that it refuses are known."""
    frame = _fast_lines(lines, schema)
    if frame is not None:
        return frame, lines, []
    if len(lines) == 1:
        return pl.DataFrame(schema=schema), [], lines
    middle = len(lines) // 2
    left, right = _bisected(lines[:middle], schema), _bisected(lines[middle:], schema)
    return left[0].vstack(right[0]), left[1] + right[1], left[2] + right[2]
