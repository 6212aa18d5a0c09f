"""``eventide assign``: an event and an opinion for every new message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.assign_files import FolderRequest, check_no_engine, wants_folder
from eventide.cli.console import note, page_console, print_json, say, show
from eventide.cli.engines import (
    Engine,
    FolderWorkers,
    ObjectStore,
    RayAddress,
    WorkerCpus,
    WorkerMemory,
    ray_options,
)
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsNew, ModelPath, Overwrite, SaltFile, Sources
from eventide.cli.reading import Reading, reads_messages
from eventide.progress import step
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

if TYPE_CHECKING:
    import polars as pl

SHOWN, EVENTS = 20, 30
"""Messages and events that are shown by default."""

NARROW, WIDE, WIDEST = 60, 110, 140
"""Widths of a terminal from which on names are whole, ids and beliefs are shown, conflicts too."""


@reads_messages
def assign(
    model: ModelPath,
    sources: Sources,
    reading: Reading,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Write the opinions here (.csv, .jsonl, .parquet or .xlsx). A folder gets them "
            "in Parquet parts, from inputs of any size; the same command goes on where it stopped.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Put each message's time and text beside its id.")
    ] = False,
    most_uncertain: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep the N most uncertain, most uncertain first.", min=1),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="U",
            help="Keep messages to review: those with an uncertainty of at least U (0 to 1).",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    as_new: AsNew = False,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every opinion as a line of JSON.")
    ] = False,
    engine: Engine = None,
    workers: FolderWorkers = None,
    ray_address: RayAddress = None,
    worker_cpus: WorkerCpus = 1.0,
    worker_memory: WorkerMemory = None,
    object_store: ObjectStore = None,
) -> None:
    """Assign an event to each message, with belief and uncertainty.

    Figures have four significant digits; Parquet keeps all of them.

    A spreadsheet may take texts of a .csv for formulas, never those of an .xlsx.

    Example: eventide assign model new.jsonl --out opinions.csv

    Example: eventide assign model '*.csv' --out review.xlsx --most-uncertain 50

    Example: eventide assign model archive/ --out opinions --workers 2
    """
    ray = ray_options(engine, ray_address, worker_cpus, worker_memory, object_store)
    if out is not None and wants_folder(out):
        FolderRequest(
            model=model,
            sources=sources,
            out=out,
            reading=reading,
            overwrite=overwrite,
            with_text=with_text,
            most_uncertain=most_uncertain,
            threshold=threshold,
            as_new=as_new,
            salt_file=salt_file,
            allow_download=allow_download,
            as_json=as_json,
            workers=workers,
            ray=ray,
        ).answer()
        return
    check_no_engine(engine, workers)
    from eventide.model import load_model
    from eventide.model.opinion_frame import to_review, with_messages
    from eventide.reports.opinion_files import printable, write_opinions

    with stoppable("nothing was written"):
        target = checked_output(out, overwrite, [*reading.check(sources), model], reading.rejected)
        loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
        intake = reading.read_for(loaded, sources)
        with step(f"assigning events to {len(intake.messages):,} messages"):
            opinions = loaded.opinions(intake, as_new=as_new)
        told = with_messages(opinions, intake.messages)
        kept = to_review(told, most_uncertain=most_uncertain, threshold=threshold)
        written = kept if with_text else kept.select(opinions.columns)
        notes = [] if target is None else write_opinions(written, target)
    if as_json:
        print_json(printable(written).write_ndjson())
    else:
        show_opinions(kept, most_uncertain or SHOWN)
        if threshold is not None:
            reviewed = f"{len(kept):,} of {len(told):,} messages"
            say(f"to review: {reviewed} have an uncertainty of at least {threshold:g}\n")
        show_events(opinions)
        if target is not None:
            say(f"{len(written):,} opinions: {target}")
    for each in notes:
        note(each, err=True)


def checked_output(
    out: Path | None, overwrite: bool, inputs: list[Path], rejected: Path | None
) -> Path | None:
    """Refuse an output that cannot be written or would destroy something, before any work."""
    if out is None:
        return None
    from eventide.errors import OutputError
    from eventide.outputs import check_file
    from eventide.reports.opinion_files import WRITERS, check_format

    target = check_file(out, overwrite=overwrite, inputs=inputs, suffixes=WRITERS)
    if rejected is not None and target.resolve() == rejected.expanduser().resolve():
        raise OutputError(
            "--out and --rejected are the same file",
            where=str(target),
            next_step="choose another name for one of them",
        )
    check_format(target)
    return target


def show_opinions(kept: pl.DataFrame, shown: int) -> None:
    """Print the most uncertain messages: event, uncertainty, text."""
    console = page_console()
    wide, widest = console.width >= WIDE, console.width >= WIDEST
    figures = ["uncertainty"] + ["belief"] * wide + ["conflict"] * widest
    table = plain_table("Most uncertain messages")
    table.expand = True
    table.add_column("event", no_wrap=True, max_width=max(10, console.width // 4))
    for name in figures:
        header = name if console.width >= NARROW else name[:3] + "."
        table.add_column(header, justify="right", no_wrap=True, min_width=len(header))
    table.add_column("text", no_wrap=True, ratio=1)
    if wide:
        table.add_column("id", no_wrap=True, max_width=24)
    worst = kept.sort("uncertainty", descending=True, maintain_order=True).head(shown)
    for row in worst.iter_rows(named=True):
        said = [f"{row[name]:.2f}" for name in figures]
        ids = [safe(row["id"])] if wide else []
        table.add_row(safe(row["event"]), *said, safe(row["text"], console.width), *ids)
    if len(kept):
        show(table, console)
        say()


def show_events(opinions: pl.DataFrame) -> None:
    """Count the messages of each event, the largest first."""
    import polars as pl

    counts = opinions.group_by("event").agg(
        pl.len().alias("messages"), pl.col("uncertainty").mean()
    )
    show_counts(counts.sort("messages", "event", descending=[True, False]))


def show_counts(ranked: pl.DataFrame) -> None:
    """Print the messages and the mean uncertainty of each event, in the order given."""
    for event, number, uncertainty in ranked.head(EVENTS).rows():
        say(f"{number:>8,}  {safe(event, 60)}  (mean uncertainty {uncertainty:.2f})")
    if len(ranked) > EVENTS:
        rest = ranked[EVENTS:]
        say(f"{rest['messages'].sum():>8,}  in {len(rest):,} smaller events")
