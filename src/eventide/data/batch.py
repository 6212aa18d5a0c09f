"""What readers hand on: some raw rows, the rows that could not even be parsed, the columns seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from eventide.data.schema import REJECTED
from eventide.safe_text import escaped

ROW = "__row"
"""Name of the column that carries a row's number in its source until the very end."""

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
