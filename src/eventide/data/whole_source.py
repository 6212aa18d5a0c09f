"""Joins the batches of a source and decides what needs all of its rows, with notes for the user.

For example: are there ids and times at all, is 03/04/2013 in March or April, which ids repeat.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b

import polars as pl

from eventide.data.batch import EXCERPT, PART, ROW, Batch
from eventide.data.event_names import missing_label_notes, spelling_notes
from eventide.data.parsing.date_strings import date_order, numbered_times, zone_offsets
from eventide.data.parsing.time_strings import within_range
from eventide.data.schema import READ_CHARACTERS, REJECTED, read_part
from eventide.data.validation import UNREAD_DATES, Validator
from eventide.safe_text import safe

Parts = tuple[pl.DataFrame, pl.DataFrame]
THREAD_ROWS = 1000  # rows per batch from which on a helper thread pays off


@dataclass(frozen=True)
class CollectedRows:
    """All messages of a source, all rejected rows, and notes on what was guessed."""

    messages: pl.DataFrame
    rejected: pl.DataFrame
    notes: tuple[str, ...]


def collected(batches: Iterable[Batch], validator: Validator, *, need_time: bool) -> CollectedRows:
    """Check every batch, then decide what needs the whole source; rows keep their order."""
    parts: list[pl.DataFrame] = []
    rejected = [pl.DataFrame(schema=REJECTED)]
    for sound, refused in _checked(batches, validator):
        parts.append(sound)
        rejected.append(refused)
    columns, present = validator.columns, validator.present
    if present and (lacking := columns.refused(present)):  # empty if no row could be parsed
        raise columns.missing(lacking, present, validator.where)
    open_dates = any(UNREAD_DATES in part.columns for part in parts)
    messages = pl.concat(parts, how="diagonal" if open_dates else "vertical")
    if not messages[ROW].is_sorted():  # rows that were read line by line come last
        messages = messages.sort(ROW, maintain_order=True)
    table = _WholeTable(messages, rejected, validator, list(validator.notes))
    if unlisted := columns.absent_lists(present):
        names = safe(", ".join(unlisted), 80)
        table.notes.append(f"no message has the column {names}, which a view reads")
    table.ids()
    table.times(need_time)
    table.repeats()
    table.events()
    table.long_texts()
    refused = pl.concat(table.rejected).sort("row", maintain_order=True)
    if validator.files:
        refused = _with_files(refused, validator.files)
    return CollectedRows(table.messages.drop(ROW), refused, tuple(dict.fromkeys(table.notes)))


@dataclass
class _WholeTable:
    """The table of the whole source while the decisions are made, one method each."""

    messages: pl.DataFrame
    rejected: list[pl.DataFrame]
    validator: Validator
    notes: list[str]

    def ids(self) -> None:
        """Make ids if the source has no ids; otherwise reject rows without one."""
        lacking = self.messages["id"].null_count()
        if not lacking:
            return
        columns, present = self.validator.columns, self.validator.present
        if any(name in present for name in columns.candidates("id")):
            self._reject(self.messages["id"].is_null(), "id", "the id is missing")
            return
        ids = [_made_id(row, text) for row, text in self.messages.select(ROW, "text").iter_rows()]
        self.messages = self.messages.with_columns(pl.Series("id", ids, dtype=pl.String))
        self.notes.append(
            "no column of ids: made from row numbers and texts" + self._suggestion("id")
        )

    def times(self, need_time: bool) -> None:
        """Read the dates left unread; if some messages have a time, reject those without."""
        if UNREAD_DATES in self.messages.columns:
            self._settle_dates()
            self.messages = self.messages.drop(UNREAD_DATES)
        times = self.messages["created_at"]
        if times.null_count() == len(times) and not self._some_time_given():
            if need_time and len(times):
                columns, present = self.validator.columns, self.validator.present
                raise columns.missing(["created_at"], present, self.validator.where)
            if len(times):
                self.notes.append(
                    "no times: messages are not weighted by time" + self._suggestion("created_at")
                )
        elif times.null_count():
            self._reject(times.is_null(), "created_at", "the time is missing")
        if self.validator.tweet_times:
            count = f"{self.validator.tweet_times:,}"
            self.notes.append(f"times of {count} messages were taken from their tweet ids")
        if self.validator.time_reader.zones:
            self.notes.append(
                f"time zones by name: {zone_offsets(self.validator.time_reader.zones)}"
            )

    def repeats(self) -> None:
        """Reject rows whose id occurs in an earlier row."""
        again = _repeated(self.messages["id"])
        self._reject(again, "id", "the id is taken by an earlier row", "id")

    def events(self) -> None:
        """Add notes on events that look like mistakes; the events are not changed."""
        if self.validator.stripped_events:
            count = f"{self.validator.stripped_events:,}"
            self.notes.append(f"blanks around the events of {count} rows were removed")
        events = self.messages["event"]
        if events.null_count() == len(events):
            return
        counts = dict(events.drop_nulls().value_counts(sort=True).iter_rows())
        self.notes += [*missing_label_notes(counts), *spelling_notes(counts)]

    def long_texts(self) -> None:
        """Add a note on texts of which only the beginning is used for features."""
        texts = self.messages["text"]
        if read_part(texts) is texts:
            return
        count = int((texts.str.len_chars() > READ_CHARACTERS).sum())
        if count:
            self.notes.append(
                f"of {count:,} long texts only the first {READ_CHARACTERS:,} characters are read"
                " for elements and vectors"
            )

    def _some_time_given(self) -> bool:
        """Whether any row, even a rejected one, had a value in its time column."""
        return any((table["column"] == "created_at").any() for table in self.rejected)

    def _settle_dates(self) -> None:
        """Decide the date order of each file from all its dates."""
        waiting = self.messages.filter(pl.col(UNREAD_DATES).is_not_null())
        for part in (waiting[ROW] // PART).unique(maintain_order=True):
            mask = self.messages[UNREAD_DATES].is_not_null() & (self.messages[ROW] // PART == part)
            texts = self.messages[UNREAD_DATES].filter(mask)
            order = date_order(texts)
            if order.day_first is None:
                self._reject(mask, "created_at", f"day or month first? {order.why}", UNREAD_DATES)
                continue
            times, zones = numbered_times(texts, day_first=order.day_first)
            times = within_range(times)
            self.validator.time_reader.zones |= zones
            created = self.messages["created_at"].scatter(mask.arg_true(), times)
            self.messages = self.messages.with_columns(created)
            first = "day" if order.day_first else "month"
            of_file = (
                f" of {safe(self.validator.source_name(part))}" if self.validator.files else ""
            )
            self.notes.append(f"the dates{of_file} are read {first} first: {safe(order.why, 80)}")
            unread = mask & created.is_null()
            self._reject(unread, "created_at", f"not a time, read {first} first", UNREAD_DATES)

    def _reject(self, mask: pl.Series, column: str, reason: str, shown: str | None = None) -> None:
        """Reject rows; ``shown`` is the column whose value is shown with the reason."""
        bad = self.messages.filter(mask)
        if bad.is_empty():
            return
        value = pl.lit("") if shown is None else pl.col(shown).str.slice(0, EXCERPT)
        table = bad.select(
            pl.col(ROW).alias("row"),
            pl.lit(column).alias("column"),
            pl.lit(reason).alias("reason"),
            value.alias("value"),
        )
        self.rejected.append(table.cast(REJECTED))  # type: ignore[arg-type]
        self.messages = self.messages.filter(~mask)

    def _suggestion(self, ours: str) -> str:
        guess = self.validator.columns.guess(ours, self.validator.present)
        if guess is None:
            return ""
        name = safe(guess, 40)
        return f"; if {name!r} holds them: --column {ours}={name} (columns={{{ours!r}: {name!r}}})"


def _made_id(row: int, text: str) -> str:
    """Make an id from the row number and the text, so that another text gets another id."""
    digest = blake2b(text.encode(), digest_size=4).hexdigest()
    part, number = divmod(row, PART)
    return f"{f'file{part + 1}-' if part else ''}row{number}-{digest}"


def _with_files(rejected: pl.DataFrame, files: Sequence[str]) -> pl.DataFrame:
    names = pl.Series("file", list(files), dtype=pl.String)
    return rejected.select(
        names.gather(rejected["row"] // PART).alias("file"),
        pl.col("row") % PART,
        "column",
        "reason",
        "value",
    )


def _checked(batches: Iterable[Batch], validator: Validator) -> Iterator[Parts]:
    """Check each batch in a helper thread while the next one is read; the order is kept."""
    waiting: deque[Future[Parts]] = deque()
    with ThreadPoolExecutor(1) as helper:
        for batch in batches:
            if len(batch.frame) < THREAD_ROWS and not waiting:
                yield validator.check(batch)
                continue
            waiting.append(helper.submit(validator.check, batch))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _repeated(ids: pl.Series) -> pl.Series:
    """Mark ids that occur in an earlier row; integers or hashes are compared before strings."""
    integers = ids.cast(pl.UInt64, strict=False)
    keys = ids.hash() if integers.null_count() else integers
    again = pl.repeat(False, len(ids), dtype=pl.Boolean, eager=True)
    ordered = keys.sort()  # sorting takes half as long as a hash table of all
    several = ordered.filter(ordered == ordered.shift(1)).unique()
    alike = keys.is_in(several.implode()).arg_true()
    return again.scatter(alike, ~ids.gather(alike).is_first_distinct())
