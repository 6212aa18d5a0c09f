"""Raw rows in, messages out: every column is parsed and checked; what fails is set aside.

A row is rejected for its first failing column only, so that rows in = messages + rejected rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from eventide.data.batch import ROW, Batch, excerpt
from eventide.data.lists import parse_lists
from eventide.data.names import Columns
from eventide.data.scalars import as_ids, as_strings
from eventide.data.schema import REJECTED, SPLITS, schema_with
from eventide.data.times import UTC, parse_times, snowflake_times
from eventide.data.vectors import parse_vectors

SPLIT_NAMES = {name: name for name in SPLITS} | {
    "training": "train",
    "validation": "val",
    "valid": "val",
    "dev": "val",
    "testing": "test",
}


@dataclass(frozen=True)
class Problem:
    """One way a row can fail: the column, why, and for which rows it is so."""

    column: str
    reason: str
    mask: pl.Series


@dataclass
class Validator:
    """Checks batch after batch of one source; remembers what must agree between batches."""

    columns: Columns
    where: str
    need_time: bool = True
    width: int | None = None
    sure: bool = field(default=False, init=False)

    def check(self, batch: Batch) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the messages (with :data:`ROW`) and the table of rejected rows."""
        if batch.frame.is_empty():
            return pl.DataFrame(schema=self._schema()), batch.rejected
        raw = self._sources(batch)
        problems: list[Problem] = []
        typed: dict[str, pl.Series] = {ROW: batch.frame[ROW]}
        for name in self.columns.names:
            if name != "created_at":
                typed[name] = self._parsed(name, raw[name], problems, batch.no_nul)
        typed["created_at"] = self._times(raw["created_at"], typed["id"], batch, problems)
        self.sure = True
        frame = pl.DataFrame(typed).select(list(self._schema()))
        return _parted(frame, raw, problems, batch.rejected)

    def _schema(self) -> dict[str, pl.DataType]:
        return {ROW: pl.Int64(), **schema_with(self.columns.lists)}

    def _sources(self, batch: Batch) -> dict[str, pl.Series]:
        """Find the raw column for each of ours; the needed ones must be somewhere."""
        frame = batch.frame
        filled = {name for name in frame.columns if frame[name].null_count() < len(frame)}
        present = filled | set(batch.found)
        raw = {}
        for ours in self.columns.names:
            found = self.columns.find(ours, present)
            if not found and not self.sure and ours in ("id", "text"):
                raise self.columns.missing(ours, batch.found, self.where)
            raw[ours] = _first_given(frame, [name for name in found if name in frame.columns])
        return raw

    def _parsed(
        self, name: str, raw: pl.Series, problems: list[Problem], no_nul: bool
    ) -> pl.Series:
        if name not in ("id", "text") and raw.null_count() == len(raw):
            return pl.Series(name, [None], dtype=self._schema()[name]).new_from_index(0, len(raw))
        if name == "id":
            ids, lost = as_ids(raw)
            lost_digits = (
                "written as a decimal number: digits of the id are lost; export it as text"
            )
            problems.append(Problem(name, lost_digits, lost))
            problems.append(Problem(name, "the id is missing", ids.is_null()))
            problems += [] if no_nul else [_nul(name, ids)]
            return ids
        if name == "vector":
            vectors, wrong = parse_vectors(raw)
            problems.append(Problem(name, "not a list of finite numbers", wrong))
            widths = vectors.list.len()
            if self.width is None and vectors.null_count() < len(vectors):
                # The commonest length; of equally common ones, the first to appear.
                common = widths.filter(widths.is_in(widths.drop_nulls().mode().implode()))
                self.width = int(common[0])
            if self.width is not None:
                wide = f"a vector of another length than the file's {self.width}"
                problems.append(Problem(name, wide, (widths != self.width).fill_null(False)))
            return vectors
        if name in ("text", "event", "user", "split"):
            strings = as_strings(raw, name)
            problems += [] if no_nul else [_nul(name, strings)]
            if name == "text":
                empty = ~strings.str.contains(r"\S").fill_null(False)
                problems.append(Problem(name, "the text is empty", empty))
                return strings
            strings = _blank_to_null(strings)
            return _splits(strings, problems) if name == "split" else strings
        lists, wrong = parse_lists(raw.alias(name))
        problems.append(Problem(name, "not a list", wrong))
        if not no_nul and lists.explode().str.contains("\x00", literal=True).any():
            problems.append(_nul(name, lists.list.join("")))
        return lists

    def _times(
        self, raw: pl.Series, ids: pl.Series, batch: Batch, problems: list[Problem]
    ) -> pl.Series:
        name = "created_at"
        if raw.dtype == pl.String:
            raw = _blank_to_null(raw)
        times = parse_times(raw)
        unread = "not a time; use ISO 8601, epoch (milli)seconds or Twitter's format, 1970 to 2099"
        problems.append(Problem(name, unread, raw.is_not_null() & times.is_null()))
        if raw.null_count():
            times = times.zip_with(raw.is_not_null(), snowflake_times(ids))
            if not self.need_time:
                return times
            given = len(raw) > min(raw.null_count(), times.null_count())
            if not (self.sure or given or self.columns.find(name, batch.found)):
                raise self.columns.missing(name, batch.found, self.where)
            lacking = raw.is_null() & times.is_null()
            problems.append(Problem(name, "the time is missing and the id holds none", lacking))
        return times.cast(UTC)


def _first_given(frame: pl.DataFrame, found: list[str]) -> pl.Series:
    if not found:
        return pl.Series("", [None], dtype=pl.String).new_from_index(0, len(frame))
    kind = frame[found[0]].dtype
    alike = [name for name in found if frame[name].dtype == kind]
    return frame.select(pl.coalesce(alike)).to_series() if len(alike) > 1 else frame[found[0]]


def _blank_to_null(strings: pl.Series) -> pl.Series:
    stripped = strings.str.strip_chars()
    blank = stripped == ""
    return stripped.set(blank, None) if blank.any() else stripped


def _nul(name: str, strings: pl.Series) -> Problem:
    holds = strings.str.contains("\x00", literal=True).fill_null(False)
    return Problem(name, "holds a NUL character", holds)


def _splits(strings: pl.Series, problems: list[Problem]) -> pl.Series:
    known = strings.str.to_lowercase().replace_strict(
        SPLIT_NAMES, default=None, return_dtype=pl.String
    )
    reason = f"not a split; allowed: {', '.join(SPLITS)} or empty"
    problems.append(Problem("split", reason, strings.is_not_null() & known.is_null()))
    return known


def _parted(
    frame: pl.DataFrame,
    raw: dict[str, pl.Series],
    problems: list[Problem],
    rejected: pl.DataFrame,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split a frame into its sound rows and the table of what is wrong with the others."""
    failing = [problem for problem in problems if problem.mask.any()]
    if not failing:
        return frame, rejected
    which = pl.Series([-1], dtype=pl.Int16).new_from_index(0, len(frame))
    for number, problem in reversed(list(enumerate(failing))):
        which = which.set(problem.mask, number)
    bad = (which >= 0).arg_true()
    blamed = [failing[number] for number in which.gather(bad)]
    cells = [raw[problem.column][at] for problem, at in zip(blamed, bad, strict=True)]
    table = pl.DataFrame(
        {
            "row": frame[ROW].gather(bad),
            "column": [problem.column for problem in blamed],
            "reason": [problem.reason for problem in blamed],
            "value": ["" if cell is None else excerpt(cell) for cell in cells],
        },
        schema=REJECTED,
    )
    return frame.filter(which < 0), pl.concat([rejected, table])
