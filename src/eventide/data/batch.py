"""What readers hand on: some raw rows, the rows that could not even be parsed, the columns seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from eventide.data.schema import REJECTED
from eventide.safe_text import escaped

ROW = "__row"
"""Name of the column that carries a row's number in its source until the very end."""

TWEET = "__tweet"
"""Name of the column that marks rows of Twitter's own exports: only their ids surely hold times."""

PART = 2**40
"""Rows of the second of several files are numbered from here on, of the third from twice that."""

EXCERPT = 80
"""How many characters of a bad value are kept to show."""


def rejects(
    rows: Sequence[int], column: str | None, reasons: Sequence[str], values: Sequence[str | bytes]
) -> pl.DataFrame:
    """Build the table of rejected rows; values are cut to an excerpt that can be shown."""
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
    r"""Cut a value to what a person can look at; whatever cannot be printed is escaped.

    >>> excerpt("a\x00b\ud800")
    'a\\x00b\\ud800'
    """
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return escaped(text[:EXCERPT])


@dataclass(frozen=True)
class Batch:
    """Raw rows under the source's own column names, with :data:`ROW` beside them."""

    frame: pl.DataFrame
    found: Sequence[str]
    rejected: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=REJECTED))
    no_nul: bool = False  # the reader knows that no cell holds a NUL character
    closed: bool = False  # no other column than those found can turn up in this source
    part: int = 0  # which of several files it is from
    notes: tuple[str, ...] = ()  # what the reader guessed, in words to show

    def as_part(self, part: int) -> Batch:
        """Return the batch as one of the file with this number."""
        if part == 0 or self.frame.width == 0:
            frame = self.frame
        else:
            frame = self.frame.with_columns(pl.col(ROW) + part * PART)
        rejected = self.rejected.with_columns(pl.col("row") + part * PART)
        return replace(self, frame=frame, rejected=rejected, part=part)
