"""``eventide assign``: an event and an opinion for every new message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.options import (
    AsNew,
    Columns,
    ModelPath,
    Rejected,
    Source,
    Strict,
    column_mapping,
)

if TYPE_CHECKING:
    import polars as pl

SHOWN = 20


def assign(
    model: ModelPath,
    source: Source,
    out: Annotated[
        Path | None, typer.Option(help="Write all opinions here (.jsonl, .csv or .parquet).")
    ] = None,
    column: Columns = None,
    rejected: Rejected = None,
    strict: Strict = False,
    as_new: AsNew = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every opinion as a line of JSON.")
    ] = False,
) -> None:
    """Assign an event to each message, with belief and uncertainty.

    Example: eventide assign model new.jsonl --out opinions.csv
    """
    from eventide.classifier import load_model
    from eventide.data import read

    judge = load_model(model)
    mapping = column_mapping(column or []) or judge.columns
    intake = read(source, columns=mapping, lists=judge.list_columns(), strict=strict)
    if rejected is not None:
        intake.write_rejected(rejected)
    opinions = judge.opinions(intake.messages, as_new=as_new)
    if out is not None:
        write_table(opinions, out)
    if as_json:
        typer.echo(opinions.write_ndjson(), nl=False)
    else:
        show_opinions(opinions, intake.messages)
        if out is not None:
            typer.echo(f"all opinions: {out}")
    if len(intake.rejected):
        typer.echo(intake.summary(), err=True)


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame in the format its name asks for, whole or not at all."""
    from eventide.errors import BadSetting
    from eventide.storage import atomic_file

    writers = {".jsonl": "write_ndjson", ".csv": "write_csv", ".parquet": "write_parquet"}
    if path.suffix not in writers:
        raise BadSetting(
            f"cannot write a table as {path.suffix or 'a file without a suffix'}",
            where=str(path),
            next_step=f"name the file {', '.join(writers)}",
        )
    with atomic_file(path) as temporary:
        getattr(frame, writers[path.suffix])(temporary)


def show_opinions(opinions: pl.DataFrame, messages: pl.DataFrame) -> None:
    """Print the most uncertain messages, which are the ones to look at, and a summary."""
    import polars as pl
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    texts = messages.select("id", "text")
    worst = opinions.join(texts, on="id").sort("uncertainty", descending=True).head(SHOWN)
    table = Table(title="look at these first: the most uncertain", title_justify="left")
    for name in ("id", "event", "belief", "uncertainty", "conflict", "text"):
        numeric = name in ("belief", "uncertainty", "conflict")
        table.add_column(name, justify="right" if numeric else "left", no_wrap=name != "event")
    for row in worst.iter_rows(named=True):
        table.add_row(
            escape(row["id"]),
            escape(str(row["event"])),
            f"{row['belief']:.2f}",
            f"{row['uncertainty']:.2f}",
            f"{row['conflict']:.2f}",
            escape(" ".join(row["text"].split())[:60]),
        )
    Console(highlight=False).print(table)
    counts = opinions.group_by("event").agg(
        pl.len().alias("messages"), pl.col("uncertainty").mean()
    )
    for event, number, uncertainty in counts.sort("messages", descending=True).rows():
        typer.echo(f"{number:>8,}  {event}  (mean uncertainty {uncertainty:.2f})")
