"""``eventide evaluate``: accuracy of a model on labelled messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import note, page_console, print_json, say, show
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsJson, AsNew, ModelPath, SaltFile, Sources, one_of
from eventide.cli.reading import Reading, reads_messages
from eventide.progress import step
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

if TYPE_CHECKING:
    from eventide.model.evaluation import EvaluationReport

ROWS = ("auto", "test", "val", "train", "unseen", "all")
NARROW = 60
"""Width of a terminal below which the table shows recall alone."""

TRAINED_ON = "messages were trained on"
"""What a note says of messages that the model has learned from."""


@reads_messages
def evaluate(
    model: ModelPath,
    sources: Sources,
    reading: Reading,
    rows: Annotated[
        str,
        typer.Option(
            metavar="ROWS",
            help="test, val, train, unseen (not trained on) or all. By default (auto) the test "
            "rows; if there are none, those that the model was not trained on.",
        ),
    ] = "auto",
    as_new: AsNew = False,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Compare a model's events with the labels of a file.

    Example: eventide evaluate model messages.parquet --rows test
    """
    from eventide.model import load_model
    from eventide.model.evaluation import evaluate_model

    one_of(rows, ROWS, "--rows")
    with stoppable("nothing was evaluated"):
        reading.check(sources)
        loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
        intake = reading.read_for(loaded, sources)
        with step(f"evaluating {len(intake.messages):,} messages"):
            report = evaluate_model(loaded, intake, rows=rows, as_new=as_new)
    if as_json:
        print_json(report.model_dump_json(indent=1))
    else:
        show_report(report)


def show_report(report: EvaluationReport) -> None:
    """Print the figures as a person reads them; a warning stands before the figures it is about."""
    loud = [each for each in report.notes if TRAINED_ON in each]
    for each in loud:
        say(f"CAUTION: {each}", style="yellow")
    console = page_console()
    names = ["messages", "recall"] + ["precision", "mean doubt"] * (console.width >= NARROW)
    table = plain_table(f"{report.messages:,} {_which(report.rows)} messages")
    table.add_column("event", no_wrap=True, max_width=max(console.width - 46, 16))
    for name in names:
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    for event in report.events:
        figures = (
            f"{event.messages:,}",
            f"{event.recall:.1%}",
            "-" if event.precision is None else f"{event.precision:.1%}",
            f"{event.doubt:.3f}",
        )
        unknown = "" if event.known else "(unknown to the model) "
        table.add_row(unknown + safe(event.event), *figures[: len(names)])
    show(table, console)
    say(
        f"\nACC {report.accuracy:.2%}   macro-F1 {report.macro_f1:.2%}   NMI {report.nmi:.3f}   "
        f"AMI {report.ami:.3f}   ARI {report.ari:.3f}"
    )
    say(
        f"ECE {report.ece:.3f}   AURC {report.aurc:.4f}   "
        f"{report.coverage_at_95:.1%} can be kept with 95% right"
    )
    if report.doubt_auroc is not None:
        say(
            f"doubt: {report.doubt_right:.3f} where right, {report.doubt_wrong:.3f} where wrong; "
            f"AUROC against error {report.doubt_auroc:.3f} (vacuity {report.error_auroc:.3f})"
        )
    say(f"{report.method}, preset {report.preset}, encoder {report.encoder}")
    say(f"protocol: {report.protocol}")
    for each in report.notes:
        if each not in loud:
            note(each)


def _which(rows: str) -> str:
    return "labelled" if rows == "all" else rows
