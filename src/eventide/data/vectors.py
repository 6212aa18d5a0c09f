"""Columns of precomputed vectors: lists, arrays, or their text, as rows of 32-bit floats."""

from __future__ import annotations

import polars as pl

VECTOR = pl.List(pl.Float32())
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NUMBERS = rf"^[\[(]?\s*{NUMBER}(?:[\s,;]+{NUMBER})*\s*,?\s*[\])]?$"

DECIMAL_COMMA = r"\d,\d+\s*;"
"""Where semicolons part the numbers, a comma between digits is a decimal point."""


def parse_vectors(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the vectors and a mask of cells that are none: text, empty, NaN, infinite.

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
