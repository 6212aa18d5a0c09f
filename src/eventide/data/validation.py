"""Parses and checks the columns of raw rows; rows that fail are rejected.

A row is rejected for its first failing column only, so that rows read = messages + rejected rows.
What needs the whole source (does it have ids, times, which date order) is left to
``whole_source``, as null or in the column :data:`UNREAD_DATES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from eventide.data.batch import ROW, TWEET, Batch, excerpt
from eventide.data.columns import Columns, plain_name
from eventide.data.parsing.cells import as_ids, as_strings, parse_lists, parse_vectors
from eventide.data.parsing.date_strings import is_numbered
from eventide.data.parsing.time_strings import UTC, TimeReader, snowflake_times
from eventide.data.schema import REJECTED, SPLITS, schema_with

UNREAD_DATES = "__unread_date"
"""Internal column of dates that are read once the whole column shows their order."""

SPLIT_NAMES = {name: name for name in SPLITS} | {
    "training": "train",
    "validation": "val",
    "valid": "val",
    "dev": "val",
    "testing": "test",
}


@dataclass(frozen=True)
class CellProblem:
    """One reason for rejecting rows: the column, the reason, and a mask of the rows."""

    column: str
    reason: str
    mask: pl.Series


@dataclass
class Validator:
    """Checks the batches of one source, and keeps what must agree between them.

    ``files`` are the names of the source's files, if there are several.
    """

    columns: Columns
    where: str
    time_reader: TimeReader = field(default_factory=TimeReader)
    files: Sequence[str] = ()
    width: int | None = None
    present: dict[str, None] = field(default_factory=dict, init=False)
    tweet_times: int = field(default=0, init=False)
    stripped_events: int = field(default=0, init=False)
    notes: dict[str, None] = field(default_factory=dict, init=False)
    _checked: set[int] = field(default_factory=set, init=False)

    def check(self, batch: Batch) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the messages (with :data:`ROW`) and the table of rejected rows."""
        self.notes |= dict.fromkeys(batch.notes)
        self.present |= dict.fromkeys(batch.found)
        if batch.frame.is_empty():
            return pl.DataFrame(schema=self._schema()), batch.rejected
        sources = self._sources(batch)
        raw = {ours: _first_given(batch.frame, found) for ours, found in sources.items()}
        problems: list[CellProblem] = []
        typed: dict[str, pl.Series] = {ROW: batch.frame[ROW]}
        for name in self.columns.names:
            if name != "created_at":
                typed[name] = self._parsed(name, raw[name], problems, batch.no_nul)
        tweets = _tweets(batch.frame, sources)
        typed |= self._times(raw["created_at"], typed["id"], tweets, problems)
        order = [*self._schema(), *([UNREAD_DATES] if UNREAD_DATES in typed else [])]
        frame = pl.DataFrame(typed).select(order)
        return _separated(frame, raw, problems, batch.rejected)

    def source_name(self, part: int) -> str:
        """Return the name of a row's file, or of the source if it is a single file."""
        return self.files[part] if self.files else self.where

    def _schema(self) -> dict[str, pl.DataType]:
        return {ROW: pl.Int64(), **schema_with(self.columns.lists)}

    def _sources(self, batch: Batch) -> dict[str, list[str]]:
        """Find the source's columns for each of ours; the text column is required."""
        frame = batch.frame
        theirs = [name for name in frame.columns if name not in (ROW, TWEET)]
        filled = [name for name in theirs if frame[name].null_count() < len(frame)]
        present = {*filled, *batch.found}
        self.present |= dict.fromkeys(filled)
        found = {ours: self.columns.find(ours, present) for ours in self.columns.names}
        if batch.part not in self._checked:
            self._check_columns(batch, found, present)
        return {
            ours: [name for name in names if name in frame.columns] for ours, names in found.items()
        }

    def _check_columns(self, batch: Batch, found: dict[str, list[str]], present: set[str]) -> None:
        """Raise if the first rows of a file lack the text or a column that the user named."""
        alone = batch.closed and not self.files  # no other columns can follow
        lacking = self.columns.refused(present)
        if not found["text"]:
            lacking = list(dict.fromkeys(["text", *lacking]))
        if lacking and (alone or not found["text"]):
            raise self.columns.missing(lacking, batch.found, self.source_name(batch.part))
        self._checked.add(batch.part)

    def _parsed(
        self, name: str, raw: pl.Series, problems: list[CellProblem], no_nul: bool
    ) -> pl.Series:
        if name != "text" and raw.null_count() == len(raw):
            return pl.Series(name, [None], dtype=self._schema()[name]).new_from_index(0, len(raw))
        if name == "id":
            ids, lost = as_ids(raw)
            lost_digits = (
                "written as a decimal number: digits of the id are lost; export it as text"
            )
            problems.append(CellProblem(name, lost_digits, lost))
            problems += [] if no_nul else [_nul(name, ids)]
            return ids
        if name == "vector":
            return self._vectors(raw, problems)
        if name in ("text", "event", "user", "split"):
            strings = as_strings(raw, name)
            problems += [] if no_nul else [_nul(name, strings)]
            if name == "text":
                empty = ~strings.str.contains(r"\S").fill_null(False)
                problems.append(CellProblem(name, "the text is empty", empty))
                return strings
            tidy = _blank_to_null(strings)
            if name == "event":
                self.stripped_events += int((tidy != strings).sum())
            return _splits(tidy, problems) if name == "split" else tidy
        lists, wrong = parse_lists(raw.alias(name))
        problems.append(CellProblem(name, "not a list", wrong))
        if not no_nul and lists.explode().str.contains("\x00", literal=True).any():
            problems.append(_nul(name, lists.list.join("")))
        return lists

    def _vectors(self, raw: pl.Series, problems: list[CellProblem]) -> pl.Series:
        vectors, wrong = parse_vectors(raw)
        problems.append(CellProblem("vector", "not a list of finite numbers", wrong))
        widths = vectors.list.len()
        if self.width is None and vectors.null_count() < len(vectors):
            # The most frequent length; of equally frequent ones, the first.
            common = widths.filter(widths.is_in(widths.drop_nulls().mode().implode()))
            self.width = int(common[0])
        if self.width is not None:
            wide = f"a vector of another length than the file's {self.width}"
            problems.append(CellProblem("vector", wide, (widths != self.width).fill_null(False)))
        return vectors

    def _times(
        self, raw: pl.Series, ids: pl.Series, tweets: pl.Series | None, problems: list[CellProblem]
    ) -> dict[str, pl.Series]:
        if raw.dtype == pl.String:
            raw = _blank_to_null(raw)
        times = self.time_reader.read(raw)
        unread = raw.is_not_null() & times.is_null()
        typed = {}
        if raw.dtype == pl.String and self.time_reader.undecided and unread.any():
            numbered = unread & is_numbered(raw)
            if numbered.any():
                typed[UNREAD_DATES] = raw.set(~numbered, None)
                unread &= ~numbered
        problems.append(CellProblem("created_at", self.time_reader.no_time, unread))
        if tweets is not None and raw.null_count():
            held = times.zip_with(raw.is_not_null() | ~tweets, snowflake_times(ids))
            self.tweet_times += times.null_count() - held.null_count()
            times = held
        return typed | {"created_at": times.cast(UTC)}


def _tweets(frame: pl.DataFrame, sources: dict[str, list[str]]) -> pl.Series | None:
    """Mark rows that are tweets: Twitter's own exports, or all rows if the column names say so.

    Ids of other platforms (Facebook, Mastodon) look the same but encode other times.
    """
    if any("tweet" in plain_name(name) for ours in ("id", "text") for name in sources[ours]):
        return pl.repeat(True, len(frame), dtype=pl.Boolean, eager=True)
    return frame[TWEET].is_not_null() if TWEET in frame.columns else None


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


def _nul(name: str, strings: pl.Series) -> CellProblem:
    holds = strings.str.contains("\x00", literal=True).fill_null(False)
    return CellProblem(name, "holds a NUL character", holds)


def _splits(strings: pl.Series, problems: list[CellProblem]) -> pl.Series:
    known = strings.str.to_lowercase().replace_strict(
        SPLIT_NAMES, default=None, return_dtype=pl.String
    )
    reason = f"not a split; allowed: {', '.join(SPLITS)} or empty"
    problems.append(CellProblem("split", reason, strings.is_not_null() & known.is_null()))
    return known


def _separated(
    frame: pl.DataFrame,
    raw: dict[str, pl.Series],
    problems: list[CellProblem],
    rejected: pl.DataFrame,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split a frame into valid rows and the table of rejected rows."""
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
