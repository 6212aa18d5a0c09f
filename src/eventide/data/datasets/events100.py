"""Events2012_100 and Events2018_100 of the paper: the 100 largest events of two tweet corpora.

The paper's rule: keep events with ``int(n / 3) >= 25``; of each event take the first
``int(n / 3 + 50)`` messages in time; of those events take the 100 largest. Sources are tables with
the columns of the KPGNN release: its ``.npy`` files (read by a restricted loader), or exports of
them to Parquet, CSV or JSONL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from eventide.data import read
from eventide.data.datasets.dataset import Collected, Dataset, TrainingFacts
from eventide.data.datasets.npy_tables import load_table
from eventide.data.long_tail import by_size
from eventide.data.schema import LIST_COLUMNS
from eventide.errors import InputError, MissingColumn, UnreadableSource

EVENTS, LEAST_THIRD, HELD_OUT = 100, 25, 50
SUFFIXES = (".npy", ".parquet", ".csv", ".jsonl", ".csv.gz", ".jsonl.gz")


def collect(source: Path, columns: Sequence[str], mapping: Mapping[str, str]) -> Collected:
    """Read all parts of a source whose ``columns`` are known and apply the rule."""
    parts, notes = [], []
    for file in source_files(source):
        table = _npy_frame(file, columns) if file.suffix == ".npy" else file
        intake = read(table, columns=mapping, need_time=True)
        parts.append(intake.messages)
        if intake.rejected.height:
            row, column, reason = intake.rejected.select("row", "column", "reason").row(0)
            notes.append(
                f"{file.name}: {intake.rejected.height:,} of {intake.rows_in:,} rows rejected, "
                f"the first: row {row}, {column}: {reason}"
            )
    everything = pl.concat(parts, how="diagonal_relaxed")
    messages = everything.unique("id", keep="first", maintain_order=True)
    if messages.height < everything.height:
        notes.append(f"{everything.height - messages.height:,} rows repeat an id and were left out")
    unlabelled = messages["event"].null_count()
    if unlabelled:
        notes.append(f"{unlabelled:,} rows have no event and were left out")
    kept = hundred_largest(messages)
    if kept.is_empty():
        raise InputError(
            f"no event has the {3 * LEAST_THIRD} messages the rule asks for; the source holds "
            f"{messages.height:,} messages of {messages['event'].n_unique():,} events",
            where=str(source),
            next_step="give the whole source: both parts, or the folder that holds them",
        )
    found = kept["event"].n_unique()
    if found < EVENTS:
        notes.append(f"only {found} events are large enough; the paper has {EVENTS}")
    return Collected(kept, tuple(notes))


def hundred_largest(messages: pl.DataFrame) -> pl.DataFrame:
    """Apply the paper's rule; rows are sorted by event, largest first, and then by time."""
    events = by_size(messages).filter(pl.col("size") // 3 >= LEAST_THIRD).head(EVENTS)
    return (
        messages.drop("label", strict=False)
        .join(events, on="event", how="inner")
        .sort("label", "created_at", "id")
        .filter(pl.int_range(pl.len()).over("event") < pl.col("size") // 3 + HELD_OUT)
        .drop("size")
    )


def source_files(source: Path) -> list[Path]:
    """List the files of a source: a file, a folder of parts, or a pattern (``part*.npy``)."""
    if source.is_file():
        return [source]
    folder, pattern = (source, "*") if source.is_dir() else (source.parent, source.name)
    files = sorted(file for file in folder.glob(pattern) if file.name.endswith(SUFFIXES))
    if not files:
        raise UnreadableSource(
            "no file of a known kind here"
            if source.is_dir()
            else "no such file, folder or pattern",
            where=str(source),
            next_step=f"give a file, a folder or a pattern of {', '.join(SUFFIXES)} files",
        )
    kinds = sorted({file.suffix for file in files})
    if len(kinds) > 1:
        raise UnreadableSource(
            f"the folder holds files of several kinds ({', '.join(kinds)}), which may be the same "
            "messages twice",
            where=str(source),
            next_step=f"choose one kind with a pattern: {folder / ('*' + kinds[0])}",
        )
    return files


def _npy_frame(file: Path, columns: Sequence[str]) -> pl.DataFrame:
    rows = load_table(file)
    widths = {len(row) for row in rows}
    if widths != {len(columns)}:
        raise MissingColumn(
            f"the table has {', '.join(map(str, sorted(widths))) or 'no'} columns where "
            f"{len(columns)} are expected: {', '.join(columns)}",
            where=str(file),
            next_step="check that the file belongs to this dataset, or export it with column names "
            "to Parquet, CSV or JSONL",
        )
    lists = {*LIST_COLUMNS, "user_mentions"}
    series = []
    for name, cells in zip(columns, zip(*rows, strict=True), strict=True):
        if name in lists:
            kind: Any = pl.List(pl.String)
            cells = tuple(_elements(cell) for cell in cells)
        else:
            kind = pl.String
            cells = tuple(_text(cell) for cell in cells)
        series.append(pl.Series(name, cells, dtype=kind))
    return pl.DataFrame(series)


def _elements(cell: Any) -> list[str] | None:
    if isinstance(cell, list):
        return [str(element) for element in cell]
    return None if _text(cell) is None else [str(cell)]


def _text(cell: Any) -> str | None:
    if cell is None or cell != cell:  # NaN (a missing cell in pandas) differs from itself
        return None
    return cell.isoformat() if isinstance(cell, date) else str(cell)


COLUMNS_2012 = (
    "event_id",
    "tweet_id",
    "text",
    "user_id",
    "created_at",
    "user_loc",
    "place_type",
    "place_full_name",
    "place_country_code",
    "hashtags",
    "user_mentions",
    "urls",
    "entities",
    "words",
    "filtered_words",
    "sampled_words",
)
"""Columns of 68841_tweets_multiclasses_filtered_0722_part{1,2}.npy, in order."""

MAPPING_2012 = {
    "id": "tweet_id",
    "event": "event_id",
    "user": "user_id",
    "mentions": "user_mentions",
}

EVENTS2012 = Dataset(
    name="events2012-100",
    messages=None,
    events=EVENTS,
    source="the Events2012 corpus (McMinn et al. 2013) as a table with the columns of KPGNN's "
    "68841_tweets_multiclasses_filtered_0722_part1.npy and part2.npy",
    obtain="request the tweet ids and event labels from the corpus' authors and hydrate them, or "
    "use the KPGNN release's .npy files; then --from FOLDER, FILE or 'part*.npy' (also Parquet, "
    "CSV or JSONL with the same columns)",
    collect=partial(collect, columns=COLUMNS_2012, mapping=MAPPING_2012),
    paper=TrainingFacts(messages=15_019, largest=2_377, smallest=55),
)

COLUMNS_2018 = (
    "tweet_id",
    "user_name",
    "text",
    "time",
    "event_id",
    "user_mentions",
    "hashtags",
    "urls",
    "words",
    "created_at",
    "filtered_words",
    "entities",
    "sampled_words",
)
"""Columns of the French table in the KPGNN release, in order."""

MAPPING_2018 = {
    "id": "tweet_id",
    "event": "event_id",
    "user": "user_name",
    "mentions": "user_mentions",
}

EVENTS2018 = Dataset(
    name="events2018-100",
    messages=None,
    events=EVENTS,
    source="the Events2018 corpus (Mazoyer et al. 2020) as a table with the columns of the KPGNN "
    "release's French tweets",
    obtain="request the tweet ids and event labels from the corpus' authors and hydrate them, or "
    "use a KPGNN-style .npy file; then --from FOLDER, FILE or '*.npy' (also Parquet, CSV or JSONL "
    "with the same columns)",
    collect=partial(collect, columns=COLUMNS_2018, mapping=MAPPING_2018),
    paper=TrainingFacts(messages=19_944, largest=4_189, smallest=27),
)
