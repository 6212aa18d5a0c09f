"""Python records (dicts) into raw columns of text: the slow, careful way in.

Used for lists of dicts, platform exports, JSON arrays and the lines a fast reader refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import polars as pl

from eventide.data.batch import ROW, Batch, rejects
from eventide.data.names import Columns
from eventide.data.scalars import EXACT

Record = Mapping[str, Any]


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
    """Write a float; a whole number that a float holds exactly needs no ``.0``."""
    if value != value:
        return None
    return str(int(value)) if abs(value) < EXACT and value.is_integer() else repr(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def batch_of(
    records: Iterable[tuple[int, Record]], columns: Columns, found: Sequence[str] | None = None
) -> Batch:
    """Build a batch from numbered records; a record with text that is no text is rejected."""
    numbered = list(records)
    names = found if found is not None else _keys(record for _, record in numbered)
    wanted = [name for name in columns.wanted() if any(name in record for _, record in numbered)]
    data = {name: [as_text(record.get(name)) for _, record in numbered] for name in wanted}
    rows = [row for row, _ in numbered]
    return text_batch(rows, data, names)


def text_batch(rows: list[int], data: dict[str, list[str | None]], found: Sequence[str]) -> Batch:
    """Build a batch from columns of text, setting aside rows whose text is not valid Unicode."""
    schema = {ROW: pl.Int64(), **{name: pl.String() for name in data}}
    try:
        return Batch(pl.DataFrame({ROW: rows, **data}, schema=schema), found)
    except (UnicodeEncodeError, pl.exceptions.PolarsError):
        pass
    bad: dict[int, tuple[str, str, str]] = {}
    for name, cells in data.items():
        for at, cell in enumerate(cells):
            if cell is not None and at not in bad and (reason := _not_unicode(cell)):
                bad[at] = (name, reason, cell)
    good = [at for at in range(len(rows)) if at not in bad]
    kept = {name: [cells[at] for at in good] for name, cells in data.items()}
    frame = pl.DataFrame({ROW: [rows[at] for at in good], **kept}, schema=schema)
    parts = [rejects([rows[at]], name, [why], [cell]) for at, (name, why, cell) in bad.items()]
    return Batch(frame, found, pl.concat(parts))


def _not_unicode(cell: str) -> str | None:
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        code = ord(cell[error.start])
        if 0xDC80 <= code <= 0xDCFF:
            return f"not UTF-8: byte 0x{code - 0xDC00:02x}; convert the file to UTF-8"
        return f"lone surrogate \\u{code:04x}: half of a character"
    return None


def _keys(records: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(str(key) for record in records for key in record))
