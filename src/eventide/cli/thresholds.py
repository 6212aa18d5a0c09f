"""``eventide thresholds``: which doubt to act on for a wanted accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.console import command, note, page_console, print_json, say, show
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsJson, ModelPath, SaltFile
from eventide.cli.reading import Reading, reads_messages
from eventide.progress import step
from eventide.reports.terminal_table import plain_table

if TYPE_CHECKING:
    from eventide.model.thresholds import Thresholds

NARROW = 60
"""Width of a terminal below which the interval is not shown."""


@reads_messages
def thresholds(
    model: ModelPath,
    reading: Reading,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Labelled messages, as for evaluate. Default: the validation messages, of which "
            "the model keeps what it said.",
            show_default=False,
        ),
    ] = None,
    accuracy: Annotated[
        float, typer.Option(metavar="A", help="The share of kept messages that must be right.")
    ] = 0.95,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Say how many messages can be kept unseen so that a wanted share of them is right.

    Messages with a doubt below the threshold are kept; the others are to look at.

    Example: eventide thresholds model --accuracy 0.95

    Example: eventide thresholds model labelled.csv --accuracy 0.99
    """
    from eventide.model import load_model
    from eventide.model.thresholds import check_accuracy, thresholds_of

    check_accuracy(accuracy)
    with stoppable("nothing was chosen"):
        intake = None
        if sources:
            reading.check(sources)
        loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
        if sources:
            intake = reading.read_for(loaded, sources)
            with step(f"predicting {len(intake.messages):,} messages"):
                found = thresholds_of(loaded, accuracy, intake)
        else:
            found = thresholds_of(loaded, accuracy)
    if as_json:
        print_json(found.model_dump_json(indent=1))
    else:
        show_thresholds(found, model)


def show_thresholds(found: Thresholds, model: Path) -> None:
    """Print the answer, then a table over several accuracies, then the command that uses it."""
    say(found.sentence())
    say()
    console = page_console()
    wide = console.width >= NARROW
    table = plain_table(f"{found.messages:,} {found.source}")
    names = ["wanted", "doubt below", "kept", "right"] + ["95% interval"] * wide + ["to look at"]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.rows:
        interval = [f"{row.low:.1%} to {row.high:.1%}"] * wide
        if row.right is None:
            cells = ["-", "0%", "-", *["cannot be reached"] * wide, f"{row.to_review:,}"]
        else:
            told = f"{row.threshold:.4g}"
            cells = [told, f"{row.kept:.0%}", f"{row.right:.1%}", *interval, f"{row.to_review:,}"]
        table.add_row(f"{row.accuracy * 100:.4g}%", *cells)
    show(table, console)
    say()
    if found.asked.reached:
        chosen = f"{found.asked.threshold:g}"
        say(f"to review the others: {command('assign', model, 'new.csv', '--threshold', chosen)}")
    for each in found.notes:
        note(each)
