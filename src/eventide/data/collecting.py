"""Batches into one table: what only the whole source can decide is decided here, and said.

Whether there are ids and times at all, whether 03/04/2013 is in March, which ids come twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b

import polars as pl

from eventide.data.batch import EXCERPT, PART, ROW, Batch
from eventide.data.event_names import about_missing, about_spelling
from eventide.data.parsing.date_strings import numbered_times, order_of, shown_zones
from eventide.data.parsing.time_strings import within_range
from eventide.data.schema import READ_CHARACTERS, REJECTED, read_part
from eventide.data.validation import WHEN, Validator
from eventide.safe_text import safe

Parts = tuple[pl.DataFrame, pl.DataFrame]
WORTH_A_THREAD = 1000  # rows; fewer are checked sooner than a thread starts


@dataclass(frozen=True)
class CollectedRows:
    """All messages of a source, all rejected rows, and what was guessed on the way."""

    messages: pl.DataFrame
    rejected: pl.DataFrame
    notes: tuple[str, ...]


def collected(batches: Iterable[Batch], validator: Validator, *, need_time: bool) -> CollectedRows:
    """Check every batch and settle what is left open; the rows keep their order."""
    parts: list[pl.DataFrame] = []
    rejected = [pl.DataFrame(schema=REJECTED)]
    for sound, refused in _checked(batches, validator):
        parts.append(sound)
        rejected.append(refused)
    columns, present = validator.columns, validator.present
    if present and (lacking := columns.refused(present)):  # else no row could be taken apart
        raise columns.missing(lacking, present, validator.where)
    open_dates = any(WHEN in part.columns for part in parts)
    messages = pl.concat(parts, how="diagonal" if open_dates else "vertical")
    if not messages[ROW].is_sorted():  # rows read the careful way come late
        messages = messages.sort(ROW, maintain_order=True)
    settled = _Settling(messages, rejected, validator, list(validator.notes))
    if unlisted := columns.absent_lists(present):
        names = safe(", ".join(unlisted), 80)
        settled.notes.append(f"no message has the column {names}, which a view reads")
    settled.ids()
    settled.times(need_time)
    settled.repeats()
    settled.events()
    settled.long_texts()
    refused = pl.concat(settled.rejected).sort("row", maintain_order=True)
    if validator.files:
        refused = _with_files(refused, validator.files)
    return CollectedRows(settled.messages.drop(ROW), refused, tuple(dict.fromkeys(settled.notes)))


@dataclass
class _Settling:
    """The table while it is being settled, step by step."""

    messages: pl.DataFrame
    rejected: list[pl.DataFrame]
    validator: Validator
    notes: list[str]

    def ids(self) -> None:
        """Make ids if the source has none; if it has some, a row without one is rejected."""
        lacking = self.messages["id"].null_count()
        if not lacking:
            return
        columns, present = self.validator.columns, self.validator.present
        if any(name in present for name in columns.candidates("id")):
            self._reject(self.messages["id"].is_null(), "id", "the id is missing")
            return
        ids = [_made_id(row, text) for row, text in self.messages.select(ROW, "text").iter_rows()]
        self.messages = self.messages.with_columns(pl.Series("id", ids, dtype=pl.String))
        self.notes.append("no column of ids: made from row numbers and texts" + self._perhaps("id"))

    def times(self, need_time: bool) -> None:
        """Read the dates left open; where some messages have a time, all must."""
        if WHEN in self.messages.columns:
            self._settle_dates()
            self.messages = self.messages.drop(WHEN)
        times = self.messages["created_at"]
        if times.null_count() == len(times) and not self._some_time_given():
            if need_time and len(times):
                columns, present = self.validator.columns, self.validator.present
                raise columns.missing(["created_at"], present, self.validator.where)
            if len(times):
                self.notes.append(
                    "no times: messages are not weighted by time" + self._perhaps("created_at")
                )
        elif times.null_count():
            self._reject(times.is_null(), "created_at", "the time is missing")
        if self.validator.tweet_times:
            count = f"{self.validator.tweet_times:,}"
            self.notes.append(f"times of {count} messages were taken from their tweet ids")
        if self.validator.clock.zones:
            self.notes.append(f"time zones by name: {shown_zones(self.validator.clock.zones)}")

    def repeats(self) -> None:
        """Reject rows whose id an earlier one has."""
        again = _repeated(self.messages["id"])
        self._reject(again, "id", "the id is taken by an earlier row", "id")

    def events(self) -> None:
        """Say which events look like mistakes; they stay what they are."""
        if self.validator.stripped_events:
            count = f"{self.validator.stripped_events:,}"
            self.notes.append(f"blanks around the events of {count} rows were taken off")
        events = self.messages["event"]
        if events.null_count() == len(events):
            return
        counts = dict(events.drop_nulls().value_counts(sort=True).iter_rows())
        self.notes += [*about_missing(counts), *about_spelling(counts)]

    def long_texts(self) -> None:
        """Count the texts of which only the beginning is read for features."""
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
        """Whether any row, a rejected one too, had something in its column of times."""
        return any((table["column"] == "created_at").any() for table in self.rejected)

    def _settle_dates(self) -> None:
        """Decide each file's date order by the whole of its column."""
        waiting = self.messages.filter(pl.col(WHEN).is_not_null())
        for part in (waiting[ROW] // PART).unique(maintain_order=True):
            mask = self.messages[WHEN].is_not_null() & (self.messages[ROW] // PART == part)
            texts = self.messages[WHEN].filter(mask)
            order = order_of(texts)
            if order.day_first is None:
                self._reject(mask, "created_at", f"day or month first? {order.why}", WHEN)
                continue
            times, zones = numbered_times(texts, day_first=order.day_first)
            times = within_range(times)
            self.validator.clock.zones |= zones
            created = self.messages["created_at"].scatter(mask.arg_true(), times)
            self.messages = self.messages.with_columns(created)
            first = "day" if order.day_first else "month"
            place = f" of {safe(self.validator.place(part))}" if self.validator.files else ""
            self.notes.append(f"the dates{place} are read {first} first: {safe(order.why, 80)}")
            unread = mask & created.is_null()
            self._reject(unread, "created_at", f"not a time, read {first} first", WHEN)

    def _reject(self, mask: pl.Series, column: str, reason: str, shown: str | None = None) -> None:
        """Set rows aside; ``shown`` is the column whose values tell why."""
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

    def _perhaps(self, ours: str) -> str:
        guess = self.validator.columns.guess(ours, self.validator.present)
        if guess is None:
            return ""
        name = safe(guess, 40)
        return f"; if {name!r} holds them: --column {ours}={name} (columns={{{ours!r}: {name!r}}})"


def _made_id(row: int, text: str) -> str:
    """Name a message by its place and its text, so that another text gets another id."""
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
