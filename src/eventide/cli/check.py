"""``eventide check``: facts about a file before anybody trains on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from eventide.cli.options import AsJson, Columns, Rejected, Source, Strict, column_mapping
from eventide.errors import RejectedRows

if TYPE_CHECKING:
    from eventide.reports.facts import Facts

PAGE_WIDTH = 100


def check(
    source: Source,
    column: Columns = None,
    strict: Strict = False,
    rejected: Rejected = None,
    as_json: AsJson = False,
) -> None:
    """Show facts about a file of messages before training on it.

    Example: eventide check messages.csv --column created_at=time
    """
    from eventide.data import read
    from eventide.reports.facts import facts

    mapping = column_mapping(column or [])
    if rejected is None:
        intake = read(source, columns=mapping, strict=strict)
    else:
        intake = read(source, columns=mapping)
        intake.write_rejected(rejected)
        if strict and len(intake.rejected):
            raise RejectedRows(
                f"{len(intake.rejected):,} of {intake.rows_in:,} rows are not sound",
                where=source,
                next_step=f"see {rejected}, mend them, or check without --strict",
            )
    measured = facts(intake, source=source, columns=mapping)
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
