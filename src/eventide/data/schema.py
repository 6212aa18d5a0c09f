"""The columns and types of messages: all readers produce them, all later steps use them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

LIST_COLUMNS = ("hashtags", "mentions", "urls", "entities")
"""Columns that hold several elements per message; null means "extract from the text"."""

SPLITS = ("train", "val", "test")
"""Values of the ``split`` column; null means that the message is in no split."""

SCHEMA: dict[str, pl.DataType] = {
    "id": pl.String(),
    "text": pl.String(),
    "created_at": pl.Datetime("ms", "UTC"),
    "event": pl.String(),
    "user": pl.String(),
    "hashtags": pl.List(pl.String()),
    "mentions": pl.List(pl.String()),
    "urls": pl.List(pl.String()),
    "entities": pl.List(pl.String()),
    "split": pl.String(),
    "vector": pl.List(pl.Float32()),
}
"""Columns of a message and their types, in order."""

READ_CHARACTERS = 10_000
"""Characters of a text that are used for elements and vectors; longer texts are kept in full."""

REJECTED: dict[str, pl.DataType] = {
    "row": pl.Int64(),
    "column": pl.String(),
    "reason": pl.String(),
    "value": pl.String(),
}
"""Columns of the table of rejected rows: row number, column that failed, reason, value.

With several files, the column ``file`` comes first.
"""


def schema_with(lists: Sequence[str] = ()) -> dict[str, pl.DataType]:
    """Return the message schema plus extra list columns (further views) at its end.

    >>> list(schema_with(["places"]))[-2:]
    ['vector', 'places']
    """
    return SCHEMA | {name: pl.List(pl.String()) for name in lists if name not in SCHEMA}


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Add missing columns as null, order and cast all columns; extra columns stay at the end.

    >>> frame = pl.DataFrame({"mood": ["calm"], "text": ["hi"], "id": ["1"]})
    >>> canonical(frame).columns[:3], canonical(frame).columns[-1]
    (['id', 'text', 'created_at'], 'mood')
    """
    known = [
        pl.col(name).cast(kind) if name in frame.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in SCHEMA.items()
    ]
    return frame.select(*known, *(pl.col(n) for n in frame.columns if n not in SCHEMA))


def read_part(texts: pl.Series) -> pl.Series:
    """Return the first `READ_CHARACTERS` characters of each text.

    >>> read_part(pl.Series(["a" * 20_000, "b"])).str.len_chars().to_list()
    [10000, 1]
    """
    long = texts.str.len_bytes() > READ_CHARACTERS
    return texts.str.head(READ_CHARACTERS) if long.any() else texts
