"""``eventide check``: facts about a file before anybody trains on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from eventide.cli.options import AsJson, Source
from eventide.cli.reading import Reading, reads_messages

if TYPE_CHECKING:
    from eventide.reports.facts import Facts

PAGE_WIDTH = 100


@reads_messages
def check(source: Source, reading: Reading, as_json: AsJson = False) -> None:
    """Show facts about a file of messages before training on it.

    Example: eventide check messages.csv --column created_at=time
    """
    from eventide.reports.facts import facts

    intake = reading.read(source)
    measured = facts(intake, source=source, columns=reading.columns())
    if as_json:
        typer.echo(measured.model_dump_json(indent=2))
    else:
        show(measured)


def show(measured: Facts) -> None:
    """Print the page: in colour on a terminal, as plain text of fixed width in a pipe."""
    from rich.console import Console

    from eventide.reports.facts.page import page

    console = Console(highlight=False)
    if not console.is_terminal or console.width > PAGE_WIDTH:
        console = Console(highlight=False, width=PAGE_WIDTH)
    plain = not console.encoding.lower().startswith("utf")
    with console.capture() as captured:
        console.print(page(measured, plain=plain))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    # Names in the data may hold signs that this stream cannot write.
    shown = "\n".join(lines).encode(console.encoding, "replace").decode(console.encoding)
    typer.echo(shown, color=console.is_terminal)
