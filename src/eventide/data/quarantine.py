"""Rejected rows in words: what is wrong with how many, an example, and what helps."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from eventide.data.batch import excerpt
from eventide.safe_text import safe

CAUSES = 8  # named in an error

_FIND = "name the right column: --column {0}=NAME (columns={{'{0}': NAME}} in Python)"
_FORMAT = "--time-format '%d/%m/%Y %H:%M' (time_format=)"
_TIMES = (
    ("day or month first?", "say which: --day-first or --month-first (day_first=True or False)"),
    ("read day first", "if the month comes first: --month-first (day_first=False)"),
    ("read month first", "if the day comes first: --day-first (day_first=True)"),
    ("in the format", f"mend the format: {_FORMAT}, or leave it out"),
    ("not a time", f"say how they are written: {_FORMAT}, or {_FIND.format('created_at')}"),
    ("missing", "give each message a time, or none at all"),
)
_ANY = (
    ("not UTF-8", "name the file's encoding: --encoding cp1252, say (encoding= in Python)"),
    ("fields where the header has", "check the separator and the quotes of the file"),
    ("broken CSV", "check the quotes of the file"),
    ("JSON", "give one JSON object per line"),
)
REMEDIES: tuple[tuple[str | None, str, str], ...] = (
    *(("created_at", words, step) for words, step in _TIMES),
    ("id", "taken by an earlier row", f"{_FIND.format('id')}; without such a column ids are made"),
    ("id", "digits", "export the ids as text, not as numbers"),
    ("id", "missing", _FIND.format("id")),
    ("text", "empty", _FIND.format("text")),
    ("split", "", "write train, val, test or nothing"),
    *((None, words, step) for words, step in _ANY),
)
"""Column (None: any), words of a reason, and what to do about it."""


def reasons(rejected: pl.DataFrame) -> pl.DataFrame:
    """Count rejected rows by column and reason, the most frequent first."""
    if "file" not in rejected.columns:
        rejected = rejected.with_columns(pl.lit(None, dtype=pl.String).alias("file"))
    return (
        rejected.with_row_index("place")
        .group_by("column", "reason")
        .agg(
            pl.len().alias("rows"),
            pl.col("row").first().alias("first_row"),
            pl.col("file").first(),
            pl.col("value").first().fill_null("").alias("example"),
            pl.col("place").first(),
        )
        .sort("rows", "place", descending=[True, False])
        .drop("place")
    )


def told(rejected: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """Say each cause: how many rows, and which column, why, an example, where first."""
    counted = reasons(rejected)
    for cause in counted.head(CAUSES).iter_rows(named=True):
        example = f", e.g. {excerpt(cause['example'])!r}" if cause["example"].strip() else ""
        place = f"row {cause['first_row']:,}"
        if cause["file"] is not None:
            place += f" of {safe(cause['file'])}"
        words = f"{safe(cause['column'] or 'row')}: {safe(cause['reason'])}"
        yield cause["rows"], f"{words}{example} (first in {place})"
    if len(counted) > CAUSES:
        rest = counted[CAUSES:]
        yield int(rest["rows"].sum()), f"for {len(rest)} other reasons"


def remedy(rejected: pl.DataFrame, rows_in: int) -> str:
    """Say what helps against the cause of most rows; a few bad ones have to be mended."""
    cause = reasons(rejected).row(0, named=True)
    if 2 * cause["rows"] > rows_in:
        for column, words, step in REMEDIES:
            if column in (None, cause["column"]) and words in cause["reason"]:
                return step
    return "mend these rows"
