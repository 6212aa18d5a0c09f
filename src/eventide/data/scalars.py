"""Single-valued columns (ids, text, labels, names) as strings, whatever type they came in."""

from __future__ import annotations

import polars as pl

from eventide.errors import InputError

LOST_DIGITS = r"^\d\.\d+[eE]\+?\d+$|^\d{16,}\.0+$"
"""An id that went through a floating-point number: 5.40123E+17, 540123456789012345.0."""

EXACT = 2**53  # above this a 64-bit float skips integers


def as_strings(column: pl.Series, name: str) -> pl.Series:
    """Return the column as text; whole numbers lose the ``.0`` a missing value gave them.

    >>> as_strings(pl.Series([1.0, None, 2.0]), "event").to_list()
    ['1', None, '2']
    """
    kind = column.dtype
    if kind == pl.String:
        return column
    if kind.is_float():
        column = column.fill_nan(None)
        whole = ((column == column.round()) & (column.abs() < EXACT)).fill_null(True)
        if whole.all():
            return column.cast(pl.Int64).cast(pl.String)
        return column.cast(pl.String)
    if kind.is_nested() or kind in (pl.Object, pl.Binary):
        raise InputError(
            f"column {name!r} holds {kind}, not text",
            next_step="turn the column into strings first",
        )
    return column.cast(pl.String)


def as_ids(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return ids as text, and a mask of those that lost digits as floating-point numbers.

    >>> ids, lost = as_ids(pl.Series(["'42'", "5.40123E+17", "7.0", " "]))
    >>> ids.to_list(), lost.to_list()
    (['42', '5.40123E+17', '7', None], [False, True, False, False])
    """
    ids = as_strings(column, "id")
    if ids.cast(pl.UInt64, strict=False).null_count() == 0:  # nothing but digits in any of them
        return ids, ids.is_null()
    ids = ids.str.strip_chars()
    odd = ids.str.contains(r"""^['"]|\.|^$""").fill_null(False)
    if not odd.any():
        return ids, odd
    lost = ids.str.contains(LOST_DIGITS).fill_null(False)
    ids = ids.str.replace(r"^'(\d+)'$", "$1").str.replace(r"^(\d{1,15})\.0+$", "$1")
    return pl.select(pl.when(ids != "").then(ids)).to_series(), lost
