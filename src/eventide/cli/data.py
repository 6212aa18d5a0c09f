"""``eventide data``: the datasets Eventide can build, and the built-in sample."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.console import print_json, say, show
from eventide.cli.options import AsJson, Overwrite, Seed, Sources, SplitName, SplitVerb
from eventide.cli.reading import Reading, reads_messages
from eventide.reports.terminal_table import plain_table
from eventide.safe_text import safe

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from eventide.data.datasets.build import Built

_NUMERIC = ("messages", "events", "train", "val", "test", "locked", "share")

app = typer.Typer(help="List, build and sample datasets.", no_args_is_help=True)


class _BuildVerb(SplitVerb):
    """Its help ends with where each dataset's source is obtained."""

    def split_names(self) -> list[str]:
        """Leave out what draws nothing."""
        from eventide.data.datasets.build import drawn_splits

        return drawn_splits()

    def get_help(self, ctx: Any) -> str:
        """Fill in the sources only when help is asked for: the registry imports polars."""
        from eventide.data.datasets.build import listing

        self.epilog = _sources(listing())
        return super().get_help(ctx)


@app.command("list")
def list_datasets(as_json: AsJson = False) -> None:
    """Show the datasets that can be built, and which are built already.

    Example: eventide data list --json
    """
    from eventide.data.datasets.build import listing

    rows = listing()
    if as_json:
        print_json(rows)
        return
    table = _table("name", "messages", "events", "what", "built")
    for row in rows:
        size = f"{row['messages']:,}" if row["messages"] else "as obtained"
        built = "yes" if row["built"] else "not yet"
        table.add_row(row["name"], size, str(row["events"]), row["what"], built)
    show(table)
    say("\nWhere to get the sources:")
    say(_sources(rows))


@app.command("build", cls=_BuildVerb)
def build_dataset(
    name: Annotated[str, typer.Argument(help="Which dataset; see: eventide data list.")],
    source: Annotated[Path, typer.Option("--from", help="What you have of its source.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.parquet", help="File to write; default: one in your data folder."
        ),
    ] = None,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    split: SplitName = "random",
    keep_together: Annotated[
        bool,
        typer.Option("--keep-together", help="Keep near-duplicate texts in one part of the split."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build a dataset from its source, with a split, and make it known by name to all verbs.

    Example: eventide data build crisislex-t7 --from CrisisLex
    """
    from eventide.data.datasets.build import build

    if out is not None:
        out = _checked(out, overwrite, [source])
    built = build(name, source, out, seed=seed, split=split, keep_together=keep_together)
    if as_json:
        print_json(built.as_json())
        return
    _show_built(built)


@app.command("sample")
def write_sample(
    out: Annotated[Path, typer.Option(metavar="FILE.parquet", help="File to write.")],
    overwrite: Overwrite = False,
    seed: Seed = 0,
) -> None:
    """Write the built-in sample: invented events, generated from a seed.

    Example: eventide data sample --out sample.parquet
    """
    from eventide.data.sample import sample
    from eventide.outputs import write_parquet

    out = _checked(out, overwrite)
    messages = sample(seed=seed)
    write_parquet(messages, out)
    events = messages["event"].drop_nulls().n_unique()
    say(f"{messages.height:,} messages about {events} invented events: {out}")


@app.command("lock")
@reads_messages
def show_lock(
    sources: Sources,
    reading: Reading,
    out: Annotated[
        Path | None,
        typer.Option(metavar="NAME-1.txt", help="Write a list of the union's messages, hashed."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show which messages are locked: reported on, never used to choose anything.

    A published list decides where it knows the messages, else the rule; with --out the rule alone.

    Example: eventide data lock crisislex-t7
    """
    import polars as pl

    from eventide.data.lock import VERSION, lock_counts, lock_of, rule_lock
    from eventide.data.published_lock import list_text
    from eventide.outputs import check_file
    from eventide.storage import atomic_file

    inputs = reading.check(sources)
    if out is not None:
        out = check_file(out, overwrite=overwrite, inputs=inputs, suffixes=[".txt"])
    columns = ("id", "text", "event")
    read = [reading.read([source]).messages.select(columns) for source in sources]
    messages = pl.concat(read).sort(columns).unique("id", keep="first", maintain_order=True)
    lock = rule_lock(messages) if out is not None else lock_of(messages)
    if out is not None:
        ids = (messages.filter(part)["id"] for part in (lock.mask, ~lock.mask))
        with atomic_file(out) as temporary:
            temporary.write_text(list_text(out.stem, VERSION, sources, *ids), encoding="ascii")
    counts = lock_counts(messages, lock)
    if as_json:
        totals = {"locked": int(lock.mask.sum()), "messages": messages.height}
        told = {"lock": lock.name, "version": VERSION, "path": str(out) if out else None}
        print_json(told | totals | {"events": counts.to_dicts()})
        return
    _show_lock(counts)
    say(f"\nlock {lock.name}, version {VERSION}" + (f": {out}" if out else ""))


def _checked(out: Path, overwrite: bool, inputs: Iterable[Path] = ()) -> Path:
    from eventide.outputs import check_file

    return check_file(out, overwrite=overwrite, inputs=inputs, suffixes=[".parquet"])


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
        table.add_row(safe(event), *(f"{count:,}" for count in counts))
    if shown.height < built.events.height:
        table.add_row(f"... and {built.events.height - shown.height} smaller events")
    table.add_row("all", *(f"{count:,}" for count in built.totals().values()), style="bold")
    show(table)
    say(f"\n{built.name} ({built.split} split, seed {built.seed}): {built.path}")
    for note in built.notes:
        say(f"- {note}")


def _show_lock(counts: pl.DataFrame) -> None:
    table = _table("event", "locked", "messages", "share")
    rows = [(safe(event or "(no event)"), *numbers) for event, *numbers in counts.rows()]
    rows.append(("all", counts["locked"].sum(), counts["messages"].sum()))
    for event, locked, size in rows:
        share = f"{locked / size:.0%}" if size else "-"
        table.add_row(event, f"{locked:,}", f"{size:,}", share)
    show(table)


def _table(*columns: str) -> Table:
    table = plain_table()
    for column in columns:
        numeric = column in _NUMERIC
        table.add_column(column, justify="right" if numeric else "left", no_wrap=numeric)
    return table
