"""Parses the cells of a column of any type: single values, vectors, and lists."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable
from typing import Any

import polars as pl

from eventide.errors import InputError
from eventide.runtime.quiet import quiet

LOST_DIGITS = r"^\d\.\d+[eE]\+?\d+$|^\d{16,}\.0+$"
"""An id that was stored as a floating-point number: 5.40123E+17, 540123456789012345.0."""

EXACT = 2**53  # larger integers are not all exact in a 64-bit float


def as_strings(column: pl.Series, name: str) -> pl.Series:
    """Return the column as text; integers lose the ``.0`` that missing values cause.

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
    if ids.cast(pl.UInt64, strict=False).null_count() == 0:  # only digits in all of them
        return ids, ids.is_null()
    ids = ids.str.strip_chars()
    odd = ids.str.contains(r"""^['"]|\.|^$""").fill_null(False)
    if not odd.any():
        return ids, odd
    lost = ids.str.contains(LOST_DIGITS).fill_null(False)
    ids = ids.str.replace(r"^'(\d+)'$", "$1").str.replace(r"^(\d{1,15})\.0+$", "$1")
    return pl.select(pl.when(ids != "").then(ids)).to_series(), lost


VECTOR = pl.List(pl.Float32())
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NUMBERS = rf"^[\[(]?\s*{NUMBER}(?:[\s,;]+{NUMBER})*\s*,?\s*[\])]?$"

DECIMAL_COMMA = r"\d,\d+\s*;"
"""Between semicolons, a comma between digits is a decimal point."""


def parse_vectors(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the vectors and a mask of invalid cells: text, empty, NaN, infinite.

    >>> vectors, wrong = parse_vectors(pl.Series(["[1, 2.5]", "1 2", "[1, nan]", None]))
    >>> vectors.to_list(), wrong.to_list()
    ([[1.0, 2.5], [1.0, 2.0], None, None], [False, False, True, False])
    """
    kind = column.dtype
    if isinstance(kind, pl.Array):
        column = column.arr.to_list()
        kind = column.dtype
    if kind == pl.String:
        text = column.str.strip_chars()
        if text.str.contains(DECIMAL_COMMA).any():
            text = pl.select(
                pl.when(text.str.contains(DECIMAL_COMMA))
                .then(text.str.replace_all(",", ".", literal=True))
                .otherwise(text)
            ).to_series()
        given = text.is_not_null() & ~text.is_in(["", "null", "None", "nan"])
        vectors = pl.select(
            pl.when(text.str.contains(NUMBERS))
            .then(text.str.extract_all(NUMBER))
            .cast(VECTOR, strict=False)
        ).to_series()
    elif isinstance(kind, pl.List) and (kind.inner.is_numeric() or kind.inner == pl.Null):
        given = column.is_not_null()
        vectors = column.cast(VECTOR, strict=False)
    else:
        return column.clear().cast(VECTOR, strict=False).extend_constant(None, len(column)), (
            column.is_not_null()
        )
    finite = vectors.list.eval(pl.element().is_finite().fill_null(False)).list.all()
    sound = (vectors.list.len() > 0) & finite
    vectors = pl.select(pl.when(sound).then(vectors).alias(column.name)).to_series()
    return vectors, given & vectors.is_null()


LIST = pl.List(pl.String())
QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
QUOTED_LIST = rf"^\[\s*(?:{QUOTED}\s*,?\s*)*\]$"
_TIDY = r"""(?:'[^'\\\s](?:[^'\\]*[^'\\\s])?'|"[^"\\\s](?:[^"\\]*[^"\\\s])?")"""
TIDY_LIST = rf"^\[(?:{_TIDY}\s*,?\s*)*\]$"
"""A list of quoted elements that are correct once their quotes are removed."""

ABSENT = ("", "nan", "none", "null", "na", "<na>")
NAME_KEYS = ("tag", "text", "screen_name", "username", "expanded_url", "name", "url", "value")
"""Keys that hold the name of an element that is an object, in order of preference."""

SEPARATORS = {
    "urls": r"[;,|\s]+(https?://|www\.)",
    "hashtags": r"[;,|\s]+()",
    "mentions": r"[;,|\s]+()",
}


def parse_lists(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the column as lists of strings and a mask of the cells that are not lists.

    >>> cells = ["['a', 'b']", '["a"]', "['a' 'b']", "a;b", "[]", "", '{"a": 1}']
    >>> lists, wrong = parse_lists(pl.Series("entities", cells))
    >>> lists.to_list()
    [['a', 'b'], ['a'], ['a', 'b'], ['a', 'b'], [], None, None]
    >>> wrong.to_list()
    [False, False, False, False, False, False, True]
    """
    kind = column.dtype
    fine = pl.Series([False], dtype=pl.Boolean).new_from_index(0, len(column))
    if isinstance(kind, pl.Array):
        column = column.arr.to_list()
        kind = column.dtype
    if isinstance(kind, pl.List):
        return _from_lists(column), fine
    if kind == pl.String:
        return _from_strings(column)
    return column.clear().cast(LIST, strict=False).extend_constant(None, len(column)), (
        column.is_not_null()
    )


def _from_lists(column: pl.Series) -> pl.Series:
    inner = column.dtype.inner  # type: ignore[attr-defined]
    if inner.is_nested():
        picked = [None if cell is None else _elements(cell) for cell in column.to_list()]
        return pl.Series(column.name, picked, dtype=LIST)
    lists = column.cast(LIST)
    flat = lists.explode()
    if (flat.str.starts_with("{") | flat.str.starts_with("[")).any():
        # The JSON reader returns nested objects as text.
        picked = [
            None if cell is None else _elements(_decoded(item) for item in cell)
            for cell in lists.to_list()
        ]
        return pl.Series(column.name, picked, dtype=LIST)
    return _tidy(lists)


def _tidy(lists: pl.Series) -> pl.Series:
    """Strip the elements and drop empty ones; return the same lists if there is nothing to do."""
    flat = lists.explode()
    holes = flat.null_count() > lists.null_count() + (lists.list.len() == 0).sum()
    if not holes and not ((flat == "") | flat.str.contains(r"^\s|\s$")).any():
        return lists
    stripped = pl.element().str.strip_chars()
    return lists.list.eval(stripped.filter(stripped.is_not_null() & (stripped != "")))


def _from_strings(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    if column.str.contains(TIDY_LIST).all():  # nulls are ignored
        return _unquoted(column), column.is_null() & False
    text = column.str.strip_chars()
    bracketed = text.str.contains(r"^[\[({]").fill_null(False)
    quoted = (text.str.contains(QUOTED_LIST) & ~text.str.contains("\\", literal=True)).fill_null(
        False
    )
    plain = text.is_not_null() & ~bracketed
    rest = bracketed & ~quoted
    choice: pl.Expr = pl.when(quoted).then(_unquoted(text))
    if plain.any():
        plain = plain & ~text.str.to_lowercase().is_in(ABSENT)
        choice = pl.when(plain).then(_split(text, column.name)).otherwise(choice)
    lists = pl.select(choice.alias(column.name)).to_series()
    lists = _tidy(lists)
    if not rest.any():
        return lists, rest
    # Escapes, objects and bare words: rare, so each distinct cell is read once in Python.
    at = rest.arg_true()
    cells = text.gather(at).to_list()
    known = {cell: _elements_of_text(cell) for cell in set(cells)}
    read = pl.Series([None, *(known[cell] for cell in cells)], dtype=LIST)
    index = rest.cast(pl.UInt32).cum_sum() * rest.cast(pl.UInt32)
    lists = lists.zip_with(~rest, read.gather(index))
    return lists, rest & lists.is_null()


def _unquoted(text: pl.Series) -> pl.Series:
    return text.str.extract_all(QUOTED).list.eval(pl.element().str.slice(1).str.head(-1))


def _split(text: pl.Series, name: str) -> pl.Series:
    if name in SEPARATORS:
        return text.str.replace_all(SEPARATORS[name], "\n$1").str.split("\n")
    pieces = text.str.split(",")
    return text.str.split(";").zip_with(text.str.contains(";", literal=True), pieces)


def _elements_of_text(cell: str) -> list[str] | None:
    value = _decoded(cell)
    if isinstance(value, (list, tuple)):
        return _elements(value)
    if isinstance(value, set):
        return sorted(_elements(value))
    if cell.startswith("[") and cell.endswith("]") and isinstance(value, str):
        return _elements(cell[1:-1].split(","))
    return None


def _decoded(text: Any) -> Any:
    """Read text as JSON or as a Python literal; other text is returned as it is."""
    if not isinstance(text, str) or text[:1] not in ("[", "{", "("):
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            with quiet(SyntaxWarning):
                return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return text


def _elements(values: Iterable[Any]) -> list[str]:
    named = (_name_of(value) for value in values)
    return [name.strip() for name in named if name is not None and name.strip()]


def _name_of(value: Any) -> str | None:
    """Find the name of an element: itself, a field of an object, or a tuple's first item."""
    if isinstance(value, dict):
        found = next((value[key] for key in NAME_KEYS if value.get(key)), None)
        return None if found is None else str(found)
    if isinstance(value, (list, tuple)):
        return _name_of(value[0]) if value else None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value)
