"""JSON lines, one message each: chunks by polars, and line by line what polars cannot read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import polars as pl

from eventide.data.batch import ROW, Batch, rejects
from eventide.data.columns import Columns
from eventide.data.parsing.records import FallbackDecoder, Record, batch_of
from eventide.data.platforms import is_platform, plain_records
from eventide.data.readers.json_values import FAILURES, Line, Screened, decode_line, screened
from eventide.data.readers.pieces import first_lines, line_count

SAMPLE = 50
MANY = 1000  # odd lines per batch
TEXT = pl.String()
ALTERED_ESCAPE = re.compile(
    rb"\\u(?:0000|[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F]))"
)
Kinds = dict[str, pl.DataType]
Read = tuple[pl.DataFrame, list[Line]]
"""Rows that were read, by line number, and the lines to read one by one."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive lines of the file, with the number of the first.

    With ``bad_lines_likely`` polars does not try the whole chunk; ``parts`` screens the lines.
    """

    piece: bytes
    start: int
    count: int
    bad_lines_likely: bool
    floats: re.Pattern[bytes] | None
    parts: Callable[[], Screened]


class LineReader:
    """Reads chunks of lines into batches; rows are numbered by their line in the file.

    Lines that are read one by one come in separate batches, after the batch of their chunk.
    """

    def __init__(self, columns: Columns, encoding: FallbackDecoder | None = None) -> None:
        self.columns = columns
        self.encoding = encoding
        self.found: list[str] = []  # keys of the probed objects
        self.listed: set[str] = set()  # keys whose value was a list somewhere
        self.textual: set[str] = set()  # keys whose value was text somewhere
        self.platform = False
        self.bare_ids = False  # ids are numbers, not strings
        names = [re.escape(json.dumps(name).encode()) for name in columns.candidates("id")]
        self.bare_id = re.compile(rb"(?:" + b"|".join(names) + rb")\s*:\s*-?\d")
        self.float_id = re.compile(self.bare_id.pattern + rb"+[.eE]")
        self.expect_bad_lines = False  # the last chunk held bad lines

    def batches(self, pieces: Iterable[bytes]) -> Iterator[Batch]:
        """Yield a batch per chunk, and batches of the lines that are read one by one."""
        odd: list[Line] = []
        for chunk in self._chunks(pieces):
            if self.platform:
                yield self._line_by_line(_lines(chunk.piece, chunk.start))
            else:
                yield self._batch(chunk, odd)
            if len(odd) >= MANY:
                yield self._line_by_line(odd)
                odd = []
        if odd:
            yield self._line_by_line(odd)

    def _chunks(self, pieces: Iterable[bytes]) -> Iterator[Chunk]:
        """Make chunks of the pieces; if bad lines are likely, screen them in a helper thread."""
        start = 1
        with ThreadPoolExecutor(1) as helper:
            ready: Chunk | None = None
            for piece in filter(None, pieces):
                self._probe(piece)
                floats = self.float_id if self.bare_ids and self.float_id.search(piece) else None
                # After a chunk with bad lines the next one probably has some too.
                bad_lines_likely = (
                    self.expect_bad_lines or floats is not None or _has_altered_escape(piece)
                )
                call = partial(screened, piece, start, list(self.found), floats)
                parts = (
                    helper.submit(call).result if bad_lines_likely and not self.platform else call
                )
                following = Chunk(piece, start, line_count(piece), bad_lines_likely, floats, parts)
                start += following.count
                if ready is not None:
                    yield ready
                ready = following
            if ready is not None:
                yield ready

    def _batch(self, chunk: Chunk, odd: list[Line]) -> Batch:
        """Read a chunk; lines that polars cannot read are added to ``odd``."""
        start, count = chunk.start, chunk.count
        whole = None if chunk.bad_lines_likely else _polars_read(chunk.piece, count, self._schema())
        if whole is not None:
            rows = pl.int_range(start, start + count, dtype=pl.Int64, eager=True)
            return Batch(whole.insert_column(0, rows.alias(ROW)), self.found, no_nul=True)
        schema = self._schema()
        present = {name: kind for name, kind in schema.items() if name in self.found}
        read = _read_screened(chunk.parts(), chunk.floats, schema, present or schema)
        if read is None:
            # Lists in some lines, strings in others: from now on all are read as text.
            self.textual.update(schema)
            return self._batch(chunk, odd)
        frame, refused = read
        self.expect_bad_lines = bool(refused)
        odd += refused
        return Batch(frame, self.found, no_nul=True)

    def _probe(self, piece: bytes) -> None:
        """Find keys, types and platform in the first lines of the file, then of each chunk."""
        few = 1 if self.found else SAMPLE
        first = first_lines(piece, few)
        self.bare_ids = self.bare_ids or any(self.bare_id.search(line) for line in first)
        decoded = [decode_line(line, self.encoding)[0] for line in first]
        records = [record for record in decoded if record is not None]
        self.found = list(dict.fromkeys([*self.found, *(str(k) for r in records for k in r)]))
        self.platform = self.platform or any(is_platform(record) for record in records)
        for record in records:
            self.listed |= {key for key, value in record.items() if isinstance(value, list)}
            self.textual |= {key for key, value in record.items() if isinstance(value, str)}

    def _schema(self) -> Kinds:
        """Use list types for keys that held only lists; all others are read as text."""
        lists = {n for ours in self.columns.list_names for n in self.columns.candidates(ours)}
        kinds = dict.fromkeys(lists, pl.List(pl.String()))
        kinds |= dict.fromkeys(self.columns.candidates("vector"), pl.List(pl.Float32()))
        real = self.listed - self.textual
        names = self.columns.readable(self.found)
        return {name: kinds.get(name, TEXT) if name in real else TEXT for name in names}

    def _line_by_line(self, lines: list[Line]) -> Batch:
        """Read line by line in Python."""
        records: list[tuple[int, Record]] = []
        odd: list[tuple[Line, str]] = []
        for row, line in lines:
            value, reason = decode_line(line, self.encoding)
            if value is None:
                odd.append(((row, line), reason))
            else:
                records.extend((row, record) for record in plain_records(value))
        found = self.found if not self.platform else None
        batch = batch_of(records, self.columns, found, self.encoding)
        rows, values = [line[0] for line, _ in odd], [line[1] for line, _ in odd]
        refused = rejects(rows, None, [reason for _, reason in odd], values)
        return Batch(batch.frame, batch.found, refused.vstack(batch.rejected))


def _polars_read(content: bytes, count: int, schema: Kinds) -> pl.DataFrame | None:
    """Read the lines with polars; None on an error or if rows and lines differ in number."""
    try:
        frame = pl.read_ndjson(content, schema=schema)
    except FAILURES:
        return None
    return frame if len(frame) == count else None


def _polars_lines(lines: list[Line], schema: Kinds) -> pl.DataFrame | None:
    if not lines:
        return pl.DataFrame(schema={ROW: pl.Int64(), **schema})
    frame = _polars_read(b"\n".join([line for _, line in lines]), len(lines), schema)
    rows = pl.Series(ROW, [row for row, _ in lines], dtype=pl.Int64)
    return None if frame is None else frame.insert_column(0, rows)


def _lines(piece: bytes, start: int) -> list[Line]:
    return [(row, line) for row, line in enumerate(piece.split(b"\n"), start) if line.strip()]


def _has_altered_escape(content: bytes) -> bool:
    return b"\\" in content and b"\\u" in content and ALTERED_ESCAPE.search(content) is not None


def _read_screened(
    parts: Screened, floats: re.Pattern[bytes] | None, schema: Kinds, present: Kinds
) -> Read | None:
    """Read a chunk without its odd lines; None if reading all columns as text would succeed.

    Valid lines have only the keys present, and polars takes time for every key of the schema.
    """
    frame = _polars_read(parts.content, len(parts.rows), present) if len(parts.rows) else None
    if frame is not None:
        frame = frame.insert_column(0, pl.Series(ROW, parts.rows))
        lines = parts.doubtful
    else:
        plain = zip(parts.rows.tolist(), parts.content.split(b"\n"), strict=False)
        lines = [*plain, *parts.doubtful]
    doubtful, odd = _sound_and_odd(lines, floats)
    rest = _read_doubtful(doubtful, schema)
    if rest is None:
        return None
    odd = sorted(odd + rest[1])
    if frame is None or rest[0].is_empty():
        return rest[0] if frame is None else frame, odd
    return pl.concat([frame, rest[0]], how="diagonal").sort(ROW), odd


def _sound_and_odd(
    lines: list[Line], floats: re.Pattern[bytes] | None
) -> tuple[list[Line], list[Line]]:
    """Separate valid JSON objects from other lines by one vectorised query for any key."""
    bent = [_has_altered_escape(line) or bool(floats and floats.search(line)) for _, line in lines]
    checked = zip(lines, bent, strict=True)
    texts = pl.Series([None if odd else _text(line) for (_, line), odd in checked], dtype=pl.String)
    sound = texts.str.json_path_match("$.*").is_not_null().to_list()
    odd = [line for line, good in zip(lines, sound, strict=True) if not good]
    return [line for line, good in zip(lines, sound, strict=True) if good], odd


def _text(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _read_doubtful(lines: list[Line], schema: Kinds) -> Read | None:
    """Read lines that may fail; None if reading all columns as text would succeed."""
    frame = _polars_lines(lines, schema)
    if frame is not None:
        return frame, []
    texts: Kinds = dict.fromkeys(schema, TEXT)
    if texts != schema and _polars_lines(lines, texts) is not None:
        return None
    return _bisected(lines, schema)


def _bisected(lines: list[Line], schema: Kinds) -> Read:
    """Bisect lines until the single lines that polars cannot read are found."""
    frame = _polars_lines(lines, schema)
    if frame is not None:
        return frame, []
    if len(lines) == 1:
        return pl.DataFrame(schema={ROW: pl.Int64(), **schema}), lines
    middle = len(lines) // 2
    left, right = _bisected(lines[:middle], schema), _bisected(lines[middle:], schema)
    return left[0].vstack(right[0]), left[1] + right[1]
