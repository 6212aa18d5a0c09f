"""``eventide data``: the datasets Eventide can build, and the built-in sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from eventide.cli.options import AsJson, Seed

if TYPE_CHECKING:
    from rich.table import Table

    from eventide.data.datasets.build import Built

app = typer.Typer(help="List, build and sample datasets.", no_args_is_help=True)


class _WithSources(TyperCommand):
    """A command whose help ends with where each dataset's source is obtained."""

    def get_help(self, ctx: Any) -> str:
        """Fill in the sources only when help is asked for: the registry imports polars."""
        from eventide.data.datasets.listing import listing

        self.epilog = _sources(listing())
        return super().get_help(ctx)


@app.command("list")
def list_datasets(as_json: AsJson = False) -> None:
    """Show the datasets that can be built, and which are built already."""
    from eventide.data.datasets.listing import listing

    rows = listing()
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    table = _table("name", "messages", "events", "what", "built")
    for row in rows:
        size = f"{row['messages']:,}" if row["messages"] else "as obtained"
        built = "yes" if row["built"] else "not yet"
        table.add_row(row["name"], size, str(row["events"]), row["what"], built)
    _show(table)
    typer.echo("Where to get the sources:")
    typer.echo(_sources(rows))


@app.command("build", cls=_WithSources)
def build_dataset(
    name: Annotated[str, typer.Argument(help="Which dataset; see: eventide data list.")],
    source: Annotated[Path, typer.Option("--from", help="What you have of its source.")],
    out: Annotated[
        Path | None, typer.Option(help="Parquet file to write; default: your data folder.")
    ] = None,
    seed: Seed = 0,
    split: Annotated[
        str,
        typer.Option(
            help="per-class (20 validation and 30 test messages of each event, as in the paper), "
            "proportional (10 % and 20 %), or chronological (the latest 10 % and 20 %)."
        ),
    ] = "per-class",
    keep_together: Annotated[
        bool,
        typer.Option("--keep-together", help="Keep near-duplicate texts on one side of the split."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build a dataset from its source, with a split, and make it known by name to all verbs."""
    from eventide.data.datasets.build import build

    built = build(name, source, out, seed=seed, split=split, keep_together=keep_together)
    if as_json:
        typer.echo(json.dumps(built.as_json(), ensure_ascii=False, indent=1))
        return
    _show_built(built)


@app.command("sample")
def write_sample(
    out: Annotated[Path, typer.Option(help="Parquet file to write.")],
    seed: Seed = 0,
) -> None:
    """Write the built-in sample: invented events, generated from a seed."""
    from eventide.data.parquet import write_parquet
    from eventide.data.sample import sample

    messages = sample(seed=seed)
    write_parquet(messages, out)
    events = messages["event"].drop_nulls().n_unique()
    typer.echo(f"{messages.height:,} messages about {events} invented events: {out}")


def _sources(rows: list[dict[str, Any]]) -> str:
    """Say where each source comes from, once for datasets that share one."""
    shared: dict[str, list[str]] = {}
    for row in rows:
        shared.setdefault(f"{row['source']}. To obtain it: {row['obtain']}.", []).append(
            row["name"]
        )
    return "\n\n".join(f"{', '.join(names)}: {text}" for text, names in shared.items())


def _show_built(built: Built) -> None:
    table = _table("event", "messages", "train", "val", "test")
    shown = built.events.head(30)
    for event, *counts in shown.rows():
        table.add_row(event, *(f"{count:,}" for count in counts))
    if shown.height < built.events.height:
        table.add_row(f"... and {built.events.height - shown.height} smaller events")
    table.add_section()
    table.add_row("all", *(f"{count:,}" for count in built.totals().values()))
    _show(table)
    typer.echo(f"{built.name} ({built.split} split, seed {built.seed}): {built.path}")
    for note in built.notes:
        typer.echo(f"- {note}")


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table()
    for column in columns:
        numeric = column in ("messages", "events", "train", "val", "test")
        table.add_column(column, justify="right" if numeric else "left")
    return table


def _show(table: Table) -> None:
    from rich.console import Console

    Console().print(table)
