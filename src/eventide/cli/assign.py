"""``eventide assign``: an event and an opinion for every new message."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eventide.cli.assign_checks import check_choices, check_verdicts, checked_output
from eventide.cli.assign_files import FolderRequest, check_no_engine, wants_folder
from eventide.cli.assign_summary import SHOWN, show_events, show_opinions, show_verdicts
from eventide.cli.assign_table import assign_table
from eventide.cli.console import note, print_json, say
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
)
from eventide.cli.reading import Reading, reads_messages


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
