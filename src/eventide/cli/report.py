"""``eventide report``: one page to show a colleague."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.console import print_json, say
from eventide.cli.exits import stoppable
from eventide.cli.options import AllowDownload, AsJson, ModelPath, Overwrite, SaltFile
from eventide.cli.reading import STANDARD_INPUT, Reading, named, reads_messages

if TYPE_CHECKING:
    from eventide.model import EventClassifier

SUFFIXES = (".html", ".htm")


@reads_messages
def report(
    model: ModelPath,
    reading: Reading,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Messages to report on, labelled or not, as for assign; without, the report is "
            "about the model.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the page here (.html).")] = Path(
        "report.html"
    ),
    overwrite: Overwrite = False,
    accuracy: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="How many of the messages that nobody reads should be right: sets the threshold "
            "of doubt.",
        ),
    ] = 0.95,
    title: Annotated[str, typer.Option(help="The title of the page.")] = "",
    no_text: Annotated[
        bool, typer.Option("--no-text", help="Keep texts, ids and keywords of messages out of it.")
    ] = False,
    salt_file: SaltFile = None,
    allow_download: AllowDownload = False,
    as_json: AsJson = False,
) -> None:
    """Write a page about a model, or about messages as it sees them: one file, no network.

    Labelled messages measure the model; unlabelled ones are reported on: volumes per event and day,
    the doubtful, the most telling.

    Example: eventide report model messages.parquet --out report.html

    Example: eventide report model new.jsonl --out today.html --no-text
    """
    given = sources or []
    with stoppable("nothing was written"):
        path = checked_page(out, [*reading.check(given), model], overwrite=overwrite)
        if reading.rejected is not None:
            check_apart(path, reading.rejected)
        from eventide.model import load_model

        loaded = load_model(model, allow_download=allow_download, salt_file=salt_file)
        intake = reading.read_for(loaded, given) if given else None
        options = {"title": title, "with_text": not no_text, "accuracy": accuracy}
        write_report(loaded, intake, path, named(given) if given else "", **options)
    show_page(path, as_json=as_json)


def checked_page(out: Path, inputs: Sequence[str | Path], *, overwrite: bool) -> Path:
    """Return where the page goes, or say why it cannot go there, before anything is read."""
    from eventide.outputs import check_file

    return check_file(out, overwrite=overwrite, inputs=inputs, suffixes=SUFFIXES)


def check_apart(path: Path, rejected: Path) -> None:
    """Refuse to write the page and the rejected rows to one file."""
    from eventide.errors import OutputError

    if path.resolve() == rejected.expanduser().resolve():
        raise OutputError(
            "--out and --rejected are the same file",
            where=str(path),
            next_step="choose another name for one of them",
        )


def write_report(
    model: EventClassifier, messages: Any, path: Path, source: str, **options: Any
) -> None:
    """Make the page of a model, or of messages that come from ``source``, and write it."""
    from eventide.reports.html.html_page import write_page
    from eventide.reports.html.model_report import model_report

    name = "standard input" if source == STANDARD_INPUT else Path(source).name if source else ""
    write_page(model_report(model, messages, name=name, **options), path)


def show_page(path: Path, *, as_json: bool = False) -> None:
    """Say where the page is and how large."""
    size = path.stat().st_size
    if as_json:
        print_json({"report": str(path), "bytes": size})
    else:
        say(f"report: {path} ({size / 1e6:.1f} MB; open it in a browser)")
