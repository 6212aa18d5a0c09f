"""``read`` reads any source of messages; its ``Intake`` holds valid messages and rejected rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.batch import excerpt
from eventide.data.columns import Columns
from eventide.data.parsing.time_strings import TimeReader
from eventide.data.plain_messages import plain_messages
from eventide.data.readers import batches_of
from eventide.data.readers.encodings import checked_encoding
from eventide.data.schema import REJECTED
from eventide.data.validation import Validator
from eventide.data.whole_source import collected
from eventide.errors import RejectedRows
from eventide.outputs import check_suffix
from eventide.runtime.forks import check_process
from eventide.safe_text import safe
from eventide.storage import atomic_file

CAUSES = 8  # most causes listed in an error
REJECTED_SUFFIXES = (".csv", ".jsonl", ".ndjson")
"""How a file of rejected rows may end."""

_FIND = "name the right column: --column {0}=NAME (columns={{'{0}': NAME}} in Python)"
_FORMAT = "--time-format '%d/%m/%Y %H:%M' (time_format=)"
_TIMES = (
    ("day or month first?", "say which: --day-first or --month-first (day_first=True or False)"),
    ("read day first", "if the month comes first: --month-first (day_first=False)"),
    ("read month first", "if the day comes first: --day-first (day_first=True)"),
    ("in the format", f"correct the format: {_FORMAT}, or leave it out"),
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
"""Column (None: any), part of a rejection reason, and the advice to give."""


def reasons(rejected: pl.DataFrame) -> pl.DataFrame:
    """Count rejected rows by column and reason, the most frequent first."""
    if "file" not in rejected.columns:
        rejected = rejected.with_columns(pl.lit(None, dtype=pl.String).alias("file"))
    return (
        rejected.with_row_index("order")
        .group_by("column", "reason")
        .agg(
            pl.len().alias("rows"),
            pl.col("row").first().alias("first_row"),
            pl.col("file").first(),
            pl.col("value").first().fill_null("").alias("example"),
            pl.col("order").first(),
        )
        .sort("rows", "order", descending=[True, False])
        .drop("order")
    )


def described_reasons(rejected: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """Describe each cause: the number of rows; the column, reason, example and first row."""
    counted = reasons(rejected)
    for cause in counted.head(CAUSES).iter_rows(named=True):
        example = f", e.g. {excerpt(cause['example'])!r}" if cause["example"].strip() else ""
        where = f"row {cause['first_row']:,}"
        if cause["file"] is not None:
            where += f" of {safe(cause['file'])}"
        words = f"{safe(cause['column'] or 'row')}: {safe(cause['reason'])}"
        yield cause["rows"], f"{words}{example} (first in {where})"
    if len(counted) > CAUSES:
        rest = counted[CAUSES:]
        yield int(rest["rows"].sum()), f"for {len(rest)} other reasons"


def remedy(rejected: pl.DataFrame, rows_in: int) -> str:
    """Return advice for the main cause if it affects most rows; else to correct the rows."""
    cause = reasons(rejected).row(0, named=True)
    if 2 * cause["rows"] > rows_in:
        for column, words, step in REMEDIES:
            if column in (None, cause["column"]) and words in cause["reason"]:
                return step
    return "correct these rows"


@dataclass(frozen=True)
class Intake:
    """The result of reading: valid messages, rejected rows, and the number of rows read."""

    messages: pl.DataFrame
    rejected: pl.DataFrame
    rows_in: int
    where: str = "the given messages"
    notes: tuple[str, ...] = ()
    """Notes for the user on what was guessed while reading."""

    def check_rejected(self, *, strict: bool = False, allow: bool = False) -> None:
        """Raise if any row (``strict``) or more than half of the rows was rejected.

        ``allow`` accepts more than half, as long as one row is left.
        """
        bad, left = len(self.rejected), len(self.messages)
        most = not left or (2 * bad > self.rows_in and not allow)
        if not bad or not (strict or most):
            return
        if not left:
            count, how = f"none of the {bad:,} rows", "can be used"
        else:
            count = f"{bad:,} of {self.rows_in:,} rows"
            how = "cannot be used" if most else "are not valid"
        steps = [remedy(self.rejected, self.rows_in)]
        steps.append("--rejected FILE writes them out (.rejected in Python)")
        if most and left:
            steps.append("--allow-rejected goes on without them")
        elif left:
            steps.append("without --strict (strict=False) they are set aside")
        lines = [f"{count} {how}:"]
        for rows, words in described_reasons(self.rejected):
            whole = "all " if rows == self.rows_in > 1 else ""
            lines.append(f"  {whole}{rows:,} row{'s' if rows > 1 else ''}: {words}")
        raise RejectedRows("\n".join(lines), where=safe(self.where), next_step="; ".join(steps))

    def reasons(self) -> pl.DataFrame:
        """Count the rejected rows by column and reason, most frequent first."""
        return reasons(self.rejected)

    def summary(self) -> str:
        """Summarise the rows read, and the rejected rows by reason."""
        lines = [f"{len(self.messages):,} of {self.rows_in:,} rows read from {safe(self.where)}"]
        lines += [
            f"  {rows:,} rejected: {words}" for rows, words in described_reasons(self.rejected)
        ]
        return "\n".join(lines)

    def write_rejected(self, path: str | Path) -> Path:
        """Write the rejected rows to a CSV or JSONL file, by its suffix, atomically."""
        target = Path(path)
        as_csv = check_suffix(target, REJECTED_SUFFIXES) == ".csv"
        content = self.rejected.write_csv() if as_csv else self.rejected.write_ndjson()
        with atomic_file(target, "the rejected rows") as temporary:
            temporary.write_text(content, encoding="utf-8")
        return target


def read(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    lists: Sequence[str] = (),
    strict: bool = False,
    need_time: bool = False,
    time_format: str | None = None,
    day_first: bool | None = None,
    encoding: str | None = None,
    remembered: Mapping[str, str] | None = None,
    need_lists: bool = True,
) -> Intake:
    """Read messages from a file, several files, a dataset's name, a frame, dicts or texts.

    ``columns`` maps our names to the source's (``{"created_at": "time"}``); ``lists`` names
    extra list columns to keep; both must be present. Other columns are dropped. ``strict`` makes
    rejected rows an error; ``need_time`` makes a source without times an error. ``time_format``,
    ``day_first`` and ``encoding`` replace the guesses about times and text files. For new messages
    of a model: ``remembered`` is the mapping of its training file, used where such a column exists;
    with ``need_lists=False`` the extra list columns may be missing. See docs/messages.md.

    >>> intake = read([{"id": 1, "text": "flood in #Calgary", "time": "2013-06-21"},
    ...                {"id": 1, "text": "the same id", "time": "2013-06-21"}])
    >>> intake.messages["text"].to_list(), intake.rejected["reason"].to_list()
    (['flood in #Calgary'], ['the id is taken by an earlier row'])
    """
    check_process()
    if isinstance(source, Intake):  # read and checked already
        return source
    plan = Columns(dict(columns or {}), tuple(lists), dict(remembered or {}), need_lists)
    if time_format is None and encoding is None:
        plain = plain_messages(source, plan)
        if plain is not None:
            return Intake(plain, pl.DataFrame(schema=REJECTED), len(plain))
    time_reader = TimeReader(time_format, day_first)
    opened = batches_of(source, plan, checked_encoding(encoding))
    validator = Validator(plan, opened.where, time_reader, opened.files)
    found = collected(opened.batches, validator, need_time=need_time)
    rows_in = len(found.messages) + len(found.rejected)
    intake = Intake(found.messages, found.rejected, rows_in, opened.where, found.notes)
    if strict:
        intake.check_rejected(strict=True)
    return intake
