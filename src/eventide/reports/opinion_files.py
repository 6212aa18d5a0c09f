"""Writes opinions to CSV, JSONL, Parquet or Excel files, atomically.

CSV, JSONL and Excel are for reading: figures have four significant digits, times are in UTC.
Parquet keeps full precision. CSV is not escaped for spreadsheets: a text that begins with ``=`` is
written as it is, and a spreadsheet may take it for a formula. Excel files mark such cells as text.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from eventide.errors import MissingDependency, OutputError
from eventide.model.opinion_frame import rounded
from eventide.storage import atomic_file

EXCEL_ROWS = 1_048_575
"""Rows of an Excel sheet below its header."""

EXCEL_CELL, EXCEL_CUT = 32_767, 16_000
"""Most UTF-16 units of a cell, and the characters kept of a longer text."""


def check_format(path: Path) -> None:
    """Raise if the format cannot be written on this machine, before anything is computed."""
    if path.suffix.lower() == ".xlsx" and find_spec("xlsxwriter") is None:
        raise MissingDependency(
            "Excel files need the package xlsxwriter",
            where=str(path),
            next_step="pip install 'eventide[excel]', or name the file .csv",
        )


def write_opinions(opinions: pl.DataFrame, path: Path) -> list[str]:
    """Write opinions in the format of the file's suffix; return notes to show the user."""
    write = WRITERS[path.suffix.lower()]
    check_format(path)
    with atomic_file(path, "the opinions") as temporary:
        return write(opinions, temporary)


def printable(opinions: pl.DataFrame) -> pl.DataFrame:
    """Round figures and write times as text, for CSV and JSONL."""
    times = pl.selectors.datetime()
    return rounded(opinions).with_columns(times.dt.strftime("%Y-%m-%dT%H:%M:%S%.fZ"))


def _csv(opinions: pl.DataFrame, path: Path) -> list[str]:
    printable(opinions).write_csv(path)
    return []


def _json_lines(opinions: pl.DataFrame, path: Path) -> list[str]:
    printable(opinions).write_ndjson(path)
    return []


def _parquet(opinions: pl.DataFrame, path: Path) -> list[str]:
    opinions.write_parquet(path)
    return []


def _excel(opinions: pl.DataFrame, path: Path) -> list[str]:
    from xlsxwriter import Workbook

    if len(opinions) > EXCEL_ROWS:
        raise OutputError(
            f"{len(opinions):,} messages; an Excel sheet holds {EXCEL_ROWS:,}",
            where=str(path),
            next_step="name the file .csv or .parquet, or keep fewer: --most-doubtful N",
        )
    fitting, cut = _fitting(opinions)
    times = pl.selectors.datetime()
    table = rounded(fitting).with_columns(times.dt.replace_time_zone(None))
    as_text = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with Workbook(str(path), {**as_text, "nan_inf_to_errors": True}) as book:
        table.write_excel(
            book,
            worksheet="opinions",
            freeze_panes=(1, 0),
            dtype_formats={pl.Float64: "General"},
        )
    return [f"{cut:,} texts were cut to fit an Excel cell"] if cut else []


def _fitting(opinions: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Cut texts that are too long for a cell; the library would leave the cell empty."""
    if "text" not in opinions.columns:
        return opinions, 0
    text = pl.col("text")
    long = (text.str.len_chars() > EXCEL_CUT) & (text.str.len_bytes() > EXCEL_CELL)
    cut = int(opinions.select(long.sum()).item())
    shortened = pl.when(long).then(text.str.slice(0, EXCEL_CUT) + "…").otherwise(text)
    return opinions.with_columns(shortened.alias("text")) if cut else opinions, cut


WRITERS: dict[str, Callable[[pl.DataFrame, Path], list[str]]] = {
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
    ".xlsx": _excel,
}
