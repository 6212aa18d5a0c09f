"""The way in: ``read`` takes any source of messages and returns what is sound and what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data.collecting import collected
from eventide.data.names import Columns
from eventide.data.plain import plain_messages
from eventide.data.quarantine import reasons, remedy, told
from eventide.data.readers import batches_of
from eventide.data.readers.encodings import checked_encoding
from eventide.data.schema import REJECTED
from eventide.data.times import TimeReader
from eventide.data.validation import Validator
from eventide.errors import BadSetting, RejectedRows
from eventide.forks import check_process
from eventide.safe_text import safe
from eventide.storage import atomic_file


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
        bad, left = len(self.rejected), len(self.messages)
        most = not left or (2 * bad > self.rows_in and not allow)
        if not bad or not (strict or most):
            return
        if not left:
            count, how = f"none of the {bad:,} rows", "can be used"
        else:
            count = f"{bad:,} of {self.rows_in:,} rows"
            how = "cannot be used" if most else "are not sound"
        steps = [remedy(self.rejected, self.rows_in)]
        steps.append("--rejected FILE writes them out (.rejected in Python)")
        if most and left:
            steps.append("--allow-rejected goes on without them")
        elif left:
            steps.append("without --strict (strict=False) they are set aside")
        lines = [f"{count} {how}:"]
        for rows, words in told(self.rejected):
            whole = "all " if rows == self.rows_in > 1 else ""
            lines.append(f"  {whole}{rows:,} row{'s' if rows > 1 else ''}: {words}")
        raise RejectedRows("\n".join(lines), where=safe(self.where), next_step="; ".join(steps))

    def reasons(self) -> pl.DataFrame:
        """Count the rejected rows by column and reason, most frequent first."""
        return reasons(self.rejected)

    def summary(self) -> str:
        """Say in a line or two how many rows were read and why others were not."""
        lines = [f"{len(self.messages):,} of {self.rows_in:,} rows read from {safe(self.where)}"]
        lines += [f"  {rows:,} rejected: {words}" for rows, words in told(self.rejected)]
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
        with atomic_file(target) as temporary:
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
    further columns of lists to keep; both must be there. ``strict`` turns rejected rows into an
    error; ``need_time`` refuses a source without any times. ``time_format`` and ``day_first`` say
    how times are written, ``encoding`` how a text file is, where the guess is wrong. Other columns
    are not kept. For new messages that a model reads: ``remembered`` is its own mapping, and where
    the source has no such column the usual names are looked for; with ``need_lists=False`` the
    further lists may be missing. docs/messages.md tells the rest.

    >>> intake = read([{"id": 1, "text": "flood in #Calgary", "time": "2013-06-21"},
    ...                {"id": 1, "text": "the same id", "time": "2013-06-21"}])
    >>> intake.messages["text"].to_list(), intake.rejected["reason"].to_list()
    (['flood in #Calgary'], ['the id is taken by an earlier row'])
    """
    check_process()
    if isinstance(source, Intake):  # read already: nothing is read or checked twice
        return source
    plan = Columns(dict(columns or {}), tuple(lists), dict(remembered or {}), need_lists)
    if time_format is None and encoding is None:
        plain = plain_messages(source, plan)
        if plain is not None:
            return Intake(plain, pl.DataFrame(schema=REJECTED), len(plain))
    clock = TimeReader(time_format, day_first)
    given = batches_of(source, plan, checked_encoding(encoding))
    validator = Validator(plan, given.where, clock, given.files)
    found = collected(given.batches, validator, need_time=need_time)
    rows_in = len(found.messages) + len(found.rejected)
    intake = Intake(found.messages, found.rejected, rows_in, given.where, found.notes)
    if strict:
        intake.check_rejected(strict=True)
    return intake
