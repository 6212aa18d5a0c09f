"""The one shape of a message: every reader ends here, everything later starts here."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

LIST_COLUMNS = ("hashtags", "mentions", "urls", "entities")
"""Columns that hold several elements per message; null means "extract from the text"."""

SPLITS = ("train", "val", "test")
"""What a ``split`` cell may say; null means the message belongs to no part yet."""

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
"""How much of a text is read for elements and vectors; a longer one is kept whole all the same."""

REJECTED: dict[str, pl.DataType] = {
    "row": pl.Int64(),
    "column": pl.String(),
    "reason": pl.String(),
    "value": pl.String(),
}
"""One line per rejected row: where it stood, which column failed, why, and what was found.

Rows of several files have their ``file`` in front.
"""


def schema_with(lists: Sequence[str] = ()) -> dict[str, pl.DataType]:
    """Return the message schema plus extra list columns (further views) at its end.

    >>> list(schema_with(["places"]))[-2:]
    ['vector', 'places']
    """
    return SCHEMA | {name: pl.List(pl.String()) for name in lists if name not in SCHEMA}


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the columns that are absent as null, put all in order and cast them; extras stay last.

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
    """Return what is read of texts: their first `READ_CHARACTERS` characters.

    >>> read_part(pl.Series(["a" * 20_000, "b"])).str.len_chars().to_list()
    [10000, 1]
    """
    long = texts.str.len_bytes() > READ_CHARACTERS
    return texts.str.head(READ_CHARACTERS) if long.any() else texts
