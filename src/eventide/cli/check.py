"""``eventide check``: facts about a file before anybody trains on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.options import column_mapping
from eventide.errors import RejectedRows

if TYPE_CHECKING:
    from eventide.reports.facts import Facts

PAGE_WIDTH = 100


def check(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of messages, or the name of a dataset.")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="OURS=THEIRS", help="Map a column, e.g. created_at=time. Repeatable."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail if any row has to be quarantined.")
    ] = False,
    rejected: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the quarantined rows here (.csv or .jsonl)."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the facts as one JSON object.")
    ] = False,
) -> None:
    """Show facts about a file of messages before training on it."""
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
