"""The way in: ``read`` takes any source of messages and returns what is sound and what is not."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.batch import ROW, Batch
from eventide.data.names import Columns
from eventide.data.plain import plain_messages
from eventide.data.readers import batches_of
from eventide.data.schema import REJECTED
from eventide.data.validation import Validator
from eventide.errors import BadSetting, InputError, RejectedRows
from eventide.forks import check_process
from eventide.storage import atomic_file

Parts = tuple[pl.DataFrame, pl.DataFrame]
WORTH_A_THREAD = 1000  # rows; fewer are checked sooner than a thread starts


@dataclass(frozen=True)
class Intake:
    """What reading gave: sound messages, rejected rows, and how many rows there were."""

    messages: pl.DataFrame
    rejected: pl.DataFrame
    rows_in: int
    where: str = "the given messages"
    notes: tuple[str, ...] = ()
    """What was guessed or taken from elsewhere while reading, in words to show."""

    def check_rejected(self, *, strict: bool = False, allow: bool = False) -> None:
        """Refuse a source of which any row (``strict``) or more than half was rejected.

        ``allow`` accepts even that, as long as a single row is left.
        """
        if not len(self.rejected):
            return
        bad, told = len(self.rejected), self.summary()
        if strict:
            raise RejectedRows(
                f"{bad:,} of {self.rows_in:,} rows are not sound: {told}",
                where=self.where,
                next_step="mend them, or read without strict (--strict) to set them aside",
            )
        if not len(self.messages) or (2 * bad > self.rows_in and not allow):
            raise RejectedRows(
                f"{bad:,} of {self.rows_in:,} rows cannot be used: {told}",
                where=self.where,
                next_step="mend the cause named above; --rejected FILE writes the rows out"
                + (", --allow-rejected goes on without them" if len(self.messages) else ""),
            )

    def reasons(self) -> pl.DataFrame:
        """Count the rejected rows by column and reason, most frequent first."""
        counted = self.rejected.group_by("column", "reason").agg(
            pl.len().alias("rows"), pl.col("row").min().alias("first_row")
        )
        return counted.sort("rows", "first_row", descending=[True, False])

    def summary(self) -> str:
        """Say in a line or two how many rows were read and why others were not."""
        lines = [f"{len(self.messages):,} of {self.rows_in:,} rows read from {self.where}"]
        lines += [
            f"  {entry['rows']:,} rejected: {entry['column'] or 'row'}: {entry['reason']}"
            f" (first in row {entry['first_row']})"
            for entry in self.reasons().iter_rows(named=True)
        ]
        return "\n".join(lines)

    def write_rejected(self, path: str | Path) -> Path:
        """Write the rejected rows as CSV, or as JSONL if the name ends so; whole or not at all."""
        target = Path(path)
        if target.suffix.lower() in (".jsonl", ".ndjson"):
            content = self.rejected.write_ndjson()
        elif target.suffix.lower() == ".csv":
            content = self.rejected.write_csv()
        else:
            raise BadSetting(
                f"cannot write rejected rows as {target.suffix or 'a file without a suffix'}",
                where=str(target),
                next_step="name the file .csv or .jsonl",
            )
        try:
            with atomic_file(target) as temporary:
                temporary.write_text(content, encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"cannot write the rejected rows: {error.strerror or error}",
                where=str(target),
                next_step="choose a folder you may write to",
            ) from None
        return target


def read(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    lists: Sequence[str] = (),
    strict: bool = False,
    need_time: bool = True,
    time_format: str | None = None,
    day_first: bool | None = None,
    encoding: str | None = None,
    remembered: Mapping[str, str] | None = None,
) -> Intake:
    """Read messages from a file, a dataset's name, a pandas or polars frame, or a list of dicts.

    ``columns`` maps our names to the source's (``{"created_at": "time"}``); ``lists`` names
    further columns of lists to keep; ``strict`` turns rejected rows into an error; with
    ``need_time=False`` a message may lack a time. Other columns are not kept. ``remembered`` is a
    model's own mapping: where the source has no such column, the usual names are looked for.

    >>> intake = read([{"id": 1, "text": "flood in #Calgary", "time": "2013-06-21"},
    ...                {"id": 1, "text": "the same id", "time": "2013-06-21"}])
    >>> intake.messages["text"].to_list(), intake.rejected["reason"].to_list()
    (['flood in #Calgary'], ['the id is taken by an earlier row'])
    """
    check_process()
    if isinstance(source, Intake):  # read already: nothing is read or checked twice
        return source
    plan = Columns(dict(columns or {}), tuple(lists), dict(remembered or {}))
    plain = plain_messages(source, plan)
    if plain is not None:
        return Intake(plain, pl.DataFrame(schema=REJECTED), len(plain))
    where, batches = batches_of(source, plan)
    intake = _collected(batches, Validator(plan, where, need_time))
    if strict and len(intake.rejected):
        first = intake.rejected.row(0, named=True)
        raise RejectedRows(
            f"{len(intake.rejected):,} of {intake.rows_in:,} rows are not sound; the first is row"
            f" {first['row']}: {first['column'] or 'row'}: {first['reason']}",
            where=where,
            next_step="mend them, or read without strict to set them aside",
        )
    return intake


def _collected(batches: Iterable[Batch], validator: Validator) -> Intake:
    parts: list[pl.DataFrame] = []
    rejected = [pl.DataFrame(schema=REJECTED)]
    for sound, refused in _checked(batches, validator):
        parts.append(sound)
        rejected.append(refused)
    messages = pl.concat(parts)
    if not messages[ROW].is_sorted():  # rows read the careful way come late
        messages = messages.sort(ROW, maintain_order=True)
    again = _repeated(messages["id"])
    if again.any():
        taken = messages.filter(again).select(
            pl.col(ROW).alias("row"),
            pl.lit("id").alias("column"),
            pl.lit("the id is taken by an earlier row").alias("reason"),
            pl.col("id").str.slice(0, 80).alias("value"),
        )
        rejected.append(taken.cast(REJECTED))  # type: ignore[arg-type]
        messages = messages.filter(~again)
    refused = pl.concat(rejected).sort("row", maintain_order=True)
    return Intake(messages.drop(ROW), refused, len(messages) + len(refused), validator.where)


def _checked(batches: Iterable[Batch], validator: Validator) -> Iterator[Parts]:
    """Check each batch while the next one is being read: one helper thread, so order is kept."""
    waiting: deque[Future[Parts]] = deque()
    with ThreadPoolExecutor(1) as helper:
        for batch in batches:
            if len(batch.frame) < WORTH_A_THREAD and not waiting:
                yield validator.check(batch)
                continue
            waiting.append(helper.submit(validator.check, batch))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _repeated(ids: pl.Series) -> pl.Series:
    """Tell which ids stood in an earlier row; numbers and hashes are compared before strings."""
    numbers = ids.cast(pl.UInt64, strict=False)
    keys = ids.hash() if numbers.null_count() else numbers
    again = pl.repeat(False, len(ids), dtype=pl.Boolean, eager=True)
    ordered = keys.sort()  # half as long as a hash table of them all takes
    several = ordered.filter(ordered == ordered.shift(1)).unique()
    alike = keys.is_in(several.implode()).arg_true()
    return again.scatter(alike, ~ids.gather(alike).is_first_distinct())
