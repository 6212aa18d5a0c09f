"""Converts Python records (dicts) to raw columns of text; helpers for nested objects.

This is the slow path for any input: every level of an object may be missing or of another type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

import polars as pl

from eventide.data.batch import ROW, TWEET, Batch, rejects
from eventide.data.columns import Columns
from eventide.data.parsing.cells import EXACT
from eventide.data.schema import REJECTED

Record = Mapping[str, Any]


class FallbackDecoder(Protocol):
    """Decodes cells that are not UTF-8; implemented in ``readers.encodings``."""

    def decoded(self, raw: bytes) -> str | None:
        """Decode bytes that are not UTF-8; None if that is impossible."""

    def reason(self, byte: int) -> str:
        """Return the reason for rejecting a row with this byte."""


def as_text(value: Any) -> str | None:
    """Write a value as text that the column parsers read back.

    >>> as_text(["a", "b"]), as_text(True), as_text(float("nan")), as_text(7)
    ('["a", "b"]', 'true', None, '7')
    """
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return as_text(value.tolist())
    if isinstance(value, (bool, dict)):
        return _json(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return _json(list(value))
    if isinstance(value, (set, frozenset)):
        return _json(sorted(value, key=str))
    if isinstance(value, (datetime, date)):
        return None if value != value else value.isoformat()  # NaT differs from itself
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return None if type(value).__name__ == "NAType" else str(value)


def _number(value: float) -> str | None:
    """Write a float; an integer that a float holds exactly gets no ``.0``."""
    if value != value:
        return None
    return str(int(value)) if abs(value) < EXACT and value.is_integer() else repr(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def batch_of(
    records: Iterable[tuple[int, Record]],
    columns: Columns,
    found: Sequence[str] | None = None,
    encoding: FallbackDecoder | None = None,
) -> Batch:
    """Build a batch from numbered records; a record whose text is not valid Unicode is rejected."""
    numbered = list(records)
    names = found if found is not None else _keys(record for _, record in numbered)
    there = {key for _, record in numbered for key in record}
    wanted = [name for name in (*columns.wanted(), TWEET) if name in there]
    data = {name: [as_text(record.get(name)) for _, record in numbered] for name in wanted}
    rows = [row for row, _ in numbered]
    return text_batch(rows, data, names, encoding)


def text_batch(
    rows: list[int],
    data: dict[str, list[str | None]],
    found: Sequence[str],
    encoding: FallbackDecoder | None = None,
) -> Batch:
    """Build a batch from columns of text; rows whose text is not valid Unicode are rejected."""
    schema = {ROW: pl.Int64(), **{name: pl.String() for name in data}}
    try:
        return Batch(pl.DataFrame({ROW: rows, **data}, schema=schema), found)
    except (UnicodeEncodeError, pl.exceptions.PolarsError):
        pass
    bad: dict[int, tuple[str, str, str]] = {}
    for name, cells in data.items():
        for at, cell in enumerate(cells):
            if cell is None or at in bad or not (byte := _not_unicode(cell)):
                continue
            decoded = _fallback_decoded(cell, encoding)
            if decoded is not None:
                cells[at] = decoded
            else:
                bad[at] = (name, _reason(byte, encoding), cell)
    good = [at for at in range(len(rows)) if at not in bad]
    kept = {name: [cells[at] for at in good] for name, cells in data.items()}
    frame = pl.DataFrame({ROW: [rows[at] for at in good], **kept}, schema=schema)
    parts = [rejects([rows[at]], name, [why], [cell]) for at, (name, why, cell) in bad.items()]
    return Batch(frame, found, pl.concat(parts) if parts else pl.DataFrame(schema=REJECTED))


def _not_unicode(cell: str) -> int | None:
    """Return the first code that is not a character, or None."""
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        return ord(cell[error.start])
    return None


def _fallback_decoded(cell: str, encoding: FallbackDecoder | None) -> str | None:
    """Decode a cell again whose bytes were not UTF-8; None for other lone surrogates."""
    if encoding is None:
        return None
    try:
        raw = cell.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    return encoding.decoded(raw)


def _reason(code: int, encoding: FallbackDecoder | None) -> str:
    if not 0xDC80 <= code <= 0xDCFF:
        return f"lone surrogate \\u{code:04x}: half of a character"
    byte = code - 0xDC00
    return f"not UTF-8: byte 0x{byte:02x}" if encoding is None else encoding.reason(byte)


def _keys(records: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(str(key) for record in records for key in record if key != TWEET))


def at(value: Any, *path: str) -> Any:
    """Follow keys into nested objects; None if one is missing.

    >>> at({"user": {"name": "ann"}}, "user", "name"), at({"user": 3}, "user", "name")
    ('ann', None)
    """
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def items(value: Any, *path: str) -> list[Any]:
    """Follow keys to a list; an empty list if there is none.

    >>> items({"tags": [1]}, "tags"), items({}, "tags")
    ([1], [])
    """
    found = at(value, *path)
    return found if isinstance(found, list) else []


def each(values: list[Any], *keys: str) -> list[str]:
    """Take from each object the value of the first key that is not empty.

    >>> each([{"url": "a", "expanded": "b"}, {"url": "c"}, 7], "expanded", "url")
    ['b', 'c']
    """
    found = (next((at(v, k) for k in keys if at(v, k)), None) for v in values)
    return [str(text) for text in found if text is not None]


def repeated(author: Any, text: Any) -> str:
    """Write a retweet as text: ``RT @ann: text``."""
    return f"RT @{author}: {text or ''}" if author else f"RT {text or ''}"
