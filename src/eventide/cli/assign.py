"""``eventide assign``: an event and an opinion for every new message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.assign_files import FolderRequest, check_no_engine, wants_folder
from eventide.cli.assign_table import assign_table
from eventide.cli.console import command, note, page_console, print_json, say, show
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
from eventide.cli.options import (
    AllowDownload,
    AsNew,
    FalseAlarms,
    ModelPath,
    Overwrite,
    SaltFile,
    Sources,
    one_of,
)
from eventide.cli.reading import Reading, reads_messages
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

if TYPE_CHECKING:
    import polars as pl

VERDICTS = ("known", "review", "new")
"""Known, known but doubtful, and about no known event."""

SHOWN, EVENTS = 20, 30
"""Messages and events that are shown by default."""

NARROW, WIDE, WIDEST = 60, 110, 140
"""Widths of a terminal from which on names are whole, ids and reasons are shown, conflicts too."""


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
    most_doubtful: Annotated[
        int | None,
        typer.Option(
            "--most-doubtful",
            "--most-uncertain",
            metavar="N",
            help="Keep the N most doubtful, most doubtful first.",
            min=1,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="D",
            help="Keep messages to review: those with a doubt of at least D (0 to 1).",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    keep_accuracy: Annotated[
        float | None,
        typer.Option(
            metavar="A",
            help="Keep messages to review so that a share of A (0 to 1) of the others is right: "
            "the threshold that `eventide thresholds` finds.",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            metavar="C",
            help="Add the column set: events of which one is right with probability C (0 to 1).",
        ),
    ] = None,
    verdict: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Keep messages with this verdict: known, review or new."),
    ] = None,
    false_alarms: FalseAlarms = None,
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
    """Assign an event to each message, with the doubt: how likely it is wrong.

    Figures have four significant digits; Parquet keeps all of them.

    A spreadsheet may take texts of a .csv for formulas, never those of an .xlsx.

    Example: eventide assign model new.jsonl --out opinions.csv

    Example: eventide assign model '*.csv' --out review.xlsx --most-doubtful 50

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
            file_only=tuple(
                name
                for name, value in (
                    ("--most-doubtful", most_doubtful),
                    ("--keep-accuracy", keep_accuracy),
                    ("--coverage", coverage),
                    ("--verdict", verdict),
                    ("--false-alarms", false_alarms),
                )
                if value is not None
            ),
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

    check_choices(threshold, keep_accuracy, coverage)
    check_verdicts(verdict, false_alarms)
    with stoppable("nothing was written"):
        target = checked_output(out, overwrite, [*reading.check(sources), model], reading.rejected)
        loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
        if keep_accuracy is not None:
            threshold = loaded.thresholds(keep_accuracy).asked.threshold
        intake = reading.read_for(loaded, sources)
        opinions, notes = assign_table(
            intake,
            loaded,
            model,
            as_new=as_new,
            coverage=coverage,
            false_alarms=false_alarms,
            allow_download=allow_download,
            salt_file=salt_file,
        )
        told = with_messages(opinions, intake.messages)
        kept = to_review(told, most_doubtful=most_doubtful, threshold=threshold)
        if verdict is not None:
            kept = kept.filter(kept["verdict"] == verdict)
        written = kept if with_text else kept.select(opinions.columns)
        notes += [] if target is None else write_opinions(written, target)
    if as_json:
        print_json(printable(written).write_ndjson())
    else:
        show_opinions(kept, most_doubtful or SHOWN)
        if threshold is not None:
            reviewed = f"{len(kept):,} of {len(told):,} messages"
            say(f"to review: {reviewed} have a doubt of at least {threshold:g}\n")
        show_events(opinions)
        show_verdicts(opinions, [] if "-" in sources else [model, *sources])
        if target is not None:
            say(f"{len(written):,} opinions: {target}")
    for each in notes:
        note(each, err=True)


def check_verdicts(verdict: str | None, false_alarms: float | None) -> None:
    """Refuse a verdict or a rate that there is not, before anything is read."""
    if verdict is not None:
        one_of(verdict, VERDICTS, "--verdict")
    if false_alarms is not None and not 0 < false_alarms < 1:
        from eventide.errors import BadSetting

        raise BadSetting(
            f"--false-alarms cannot be {false_alarms:g}",
            next_step="give a share above 0 and below 1, such as 0.05",
        )


def show_verdicts(opinions: pl.DataFrame, inputs: list[object]) -> None:
    """Count the verdicts, and say what to do with new messages."""
    counts = {each: int((opinions["verdict"] == each).sum()) for each in VERDICTS}
    say("verdicts: " + ", ".join(f"{count:,} {each}" for each, count in counts.items()))
    if counts["new"] and inputs:
        say("group the new messages into candidate events:")
        say("  " + command("discover", *inputs, "--out", "candidates"))


def check_choices(
    threshold: float | None, keep_accuracy: float | None, coverage: float | None
) -> None:
    """Refuse choices that cannot be followed, before anything is read."""
    from eventide.errors import BadSetting
    from eventide.model.thresholds import check_accuracy
    from eventide.opinions.prediction_sets import check_coverage

    if coverage is not None:
        check_coverage(coverage)
    if keep_accuracy is None:
        return
    check_accuracy(keep_accuracy)
    if threshold is not None:
        raise BadSetting(
            "--threshold and --keep-accuracy both choose the messages to review",
            next_step="give one of them",
        )


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
    """Print the most doubtful messages: event, doubt and its reasons, text."""
    from eventide.model.opinion_frame import SEPARATOR

    console = page_console()
    wide, widest = console.width >= WIDE, console.width >= WIDEST
    figures = ["doubt"] + ["vacuity", "dissonance"] * wide + ["conflict"] * widest
    table = plain_table("Most doubtful messages")
    table.expand = True
    table.add_column("event", no_wrap=True, max_width=max(10, console.width // 4))
    for name in figures:
        header = name if console.width >= NARROW or len(name) < 6 else name[:3] + "."
        table.add_column(header, justify="right", no_wrap=True, min_width=len(header))
    verdicts = console.width >= NARROW
    if verdicts:
        table.add_column("verdict", no_wrap=True)
    sets = "set" in kept.columns
    if sets:
        table.add_column("or", no_wrap=True, max_width=max(12, console.width // 4))
    table.add_column("text", no_wrap=True, ratio=1)
    if wide:
        table.add_column("id", no_wrap=True, max_width=24)
    worst = kept.sort("doubt", descending=True, maintain_order=True).head(shown)
    for row in worst.iter_rows(named=True):
        said = [f"{row[name]:.2f}" for name in figures] + [row["verdict"]] * verdicts
        ids = [safe(row["id"])] if wide else []
        said += [safe(", ".join(row["set"].split(SEPARATOR)[1:]))] if sets else []
        table.add_row(safe(row["event"]), *said, safe(row["text"], console.width), *ids)
    if len(kept):
        show(table, console)
        say()


def show_events(opinions: pl.DataFrame) -> None:
    """Count the messages of each event, the largest first."""
    import polars as pl

    counts = opinions.group_by("event").agg(pl.len().alias("messages"), pl.col("doubt").mean())
    show_counts(counts.sort("messages", "event", descending=[True, False]))


def show_counts(ranked: pl.DataFrame) -> None:
    """Print the messages and the mean doubt of each event, in the order given."""
    for event, number, doubt in ranked.head(EVENTS).rows():
        say(f"{number:>8,}  {safe(event, 60)}  (mean doubt {doubt:.2f})")
    if len(ranked) > EVENTS:
        rest = ranked[EVENTS:]
        say(f"{rest['messages'].sum():>8,}  in {len(rest):,} smaller events")
