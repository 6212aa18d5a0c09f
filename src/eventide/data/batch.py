"""A batch of raw rows from a reader, with rows that could not be parsed and the columns found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from eventide.data.schema import REJECTED
from eventide.safe_text import escaped

ROW = "__row"
"""Internal column with the number of a row in its source."""

TWEET = "__tweet"
"""Internal column that marks rows of Twitter's own exports: only their ids reliably hold times."""

PART = 2**40
"""Offset of row numbers per file: rows of file i (from 0) start at ``i * PART``."""

EXCERPT = 80
"""Characters of a bad value that are kept."""


def rejects(
    rows: Sequence[int], column: str | None, reasons: Sequence[str], values: Sequence[str | bytes]
) -> pl.DataFrame:
    """Build the table of rejected rows; values are cut to a printable excerpt."""
    return pl.DataFrame(
        {
            "row": rows,
            "column": pl.Series([column], dtype=pl.String).new_from_index(0, len(rows)),
            "reason": reasons,
            "value": [excerpt(value) for value in values],
        },
        schema=REJECTED,
    )


def excerpt(value: object) -> str:
    r"""Cut a value to `EXCERPT` characters and escape what cannot be printed.

    >>> excerpt("a\x00b\ud800")
    'a\\x00b\\ud800'
    """
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return escaped(text[:EXCERPT])


@dataclass(frozen=True)
class Batch:
    """Raw rows under the source's own column names, with the column :data:`ROW`."""

    frame: pl.DataFrame
    found: Sequence[str]
    rejected: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=REJECTED))
    no_nul: bool = False  # the reader knows that no cell holds a NUL character
    closed: bool = False  # no other columns can follow in this source
    part: int = 0  # index of the file, if there are several
    notes: tuple[str, ...] = ()  # what the reader guessed, for the user

    def as_part(self, part: int) -> Batch:
        """Return the batch as a part of the file with this index."""
        if part == 0 or self.frame.width == 0:
            frame = self.frame
        else:
            frame = self.frame.with_columns(pl.col(ROW) + part * PART)
        rejected = self.rejected.with_columns(pl.col("row") + part * PART)
        return replace(self, frame=frame, rejected=rejected, part=part)
