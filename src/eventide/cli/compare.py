"""``eventide compare``: methods side by side, over seeds, with tables and significance."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eventide.cli.options import (
    AsJson,
    ChangeForAll,
    Columns,
    Entities,
    Preset,
    Source,
    Workers,
    changed_settings,
    column_mapping,
)
from eventide.errors import BadSetting

if TYPE_CHECKING:
    from eventide.comparison import Results, Step
    from eventide.reports.tables import Table

IN_A_PIPE = 1_000
"""Columns to draw tables in where no person's terminal limits them."""


def compare(
    source: Source,
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, variants (ucl-ec+cb) and groups, joined by commas: long-tail, "
            "event-detection, yardsticks, all, ablation, ablation-grid, controls."
        ),
    ] = "long-tail",
    seeds: Annotated[
        str,
        typer.Option(
            help="How many (10 is 0 to 9), a range (100-104) or a list (3,5). A seed sets split "
            "and first weights, the same for every method."
        ),
    ] = "10",
    split: Annotated[
        str,
        typer.Option(
            help="random (the paper's 20 validation and 30 test messages per event), "
            "proportional, duplicate-aware, chronological, or stored."
        ),
    ] = "random",
    protocol: Annotated[
        str | None,
        typer.Option(help="transductive (default) or inductive; a chronological split is that."),
    ] = None,
    preset: Preset = "default",
    encoder: Annotated[
        str | None, typer.Option(help="wordllama, tfidf-svd, minilm, ...; joined with +.")
    ] = None,
    entities: Entities = "rules",
    column: Columns = None,
    change: ChangeForAll = None,
    reference: Annotated[str, typer.Option(help="Whom the others are tested against.")] = "ucl-ec",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for runs and tables; runs in it are not done again."),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Run methods side by side and print tables: accuracy, F1, NMI, AMI, ARI, significance, times.

    Every finished run is kept: the same command goes on where it was stopped.

    Example: eventide compare crisislex-t7 --methods ucl,ucl-ec,ce --seeds 3

    Example: eventide compare crisislex-t7 --methods long-tail --out results

    Example: eventide compare messages.jsonl --methods controls --split chronological
    """
    numbers = seed_numbers(seeds)
    changes = {
        name.replace("__", "."): value for name, value in changed_settings(change or []).items()
    }
    from eventide.comparison import choose, read_material
    from eventide.comparison import compare as run_all
    from eventide.reports.tables import collect
    from eventide.reports.tables.machine import as_data
    from eventide.reports.tables.writing import write_tables

    choice = choose(methods)
    material = read_material(
        source, choice.contestants, columns=column_mapping(column or []), entities=entities
    )
    folder = out or Path(f"comparison-{material.name}")
    chosen = {} if encoder is None else {"encoder": encoder}
    try:
        with _bar() as watch:
            results = run_all(
                material,
                choice.contestants,
                numbers,
                out=folder,
                split=split,
                protocol=protocol,
                preset=preset,
                changes=changes,
                workers=workers,
                watch=watch,
                **chosen,
            )
    except KeyboardInterrupt:
        typer.echo(f"stopped; the same command goes on with what is in {folder}", err=True)
        raise typer.Exit(1) from None
    tables = collect(results, choice.groups, material=material, reference=reference)
    written = write_tables(results, tables, folder)
    if as_json:
        typer.echo(json.dumps(as_data(results, choice.notes, reference), indent=1))
    else:
        _show(tables, [*choice.notes, *results.notes])
        typer.echo(f"runs:   {results.path}\ntables: {written[0]}, and each as .md .tex .csv")
    if results.failures:
        _complain(results)
        raise typer.Exit(1)


def seed_numbers(text: str) -> list[int]:
    """Read ``--seeds``: how many, a range, or a list.

    >>> seed_numbers("3"), seed_numbers("100-102"), seed_numbers("4,7")
    ([0, 1, 2], [100, 101, 102], [4, 7])
    """
    try:
        if "," in text:
            found = [int(part) for part in text.split(",") if part.strip()]
        elif "-" in text:
            first, _, last = text.partition("-")
            found = list(range(int(first), int(last) + 1))
        else:
            found = list(range(int(text)))
    except ValueError:
        found = []
    if not found or min(found) < 0:
        raise BadSetting(
            f"--seeds {text!r} names no seed",
            next_step="write how many (10), a range (100-104) or a list (3,5)",
        )
    return found


@contextmanager
def _bar() -> Iterator[Callable[[Step], None]]:
    """Give a function to call with every step; it draws only if a person is looking."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = TextColumn("runs"), BarColumn(), MofNCompleteColumn(), Elapsed()
    console = Console(stderr=True)
    with Progress(*columns, TextColumn("{task.description}"), console=console) as bar:
        task = bar.add_task("", total=None)

        def watch(step: Step) -> None:
            bar.update(task, completed=step.done, total=step.total, description=_said(step))

        yield watch


def _said(step: Step) -> str:
    if step.run is None:
        return f"{step.done} kept from before" if step.done else ""
    outcome = step.run.outcome
    ended = "failed" if outcome is None else f"ACC {outcome.test.accuracy:.2%}"
    return f"{step.run.contestant} seed {step.run.seed}: {ended}"


def _show(tables: list[Table], notes: list[str]) -> None:
    from rich.console import Console

    from eventide.reports.tables.drawing import left_out, terminal

    console = Console(highlight=False)
    if not console.is_terminal:  # in a pipe nothing has to be folded or left out
        console = Console(highlight=False, width=IN_A_PIPE)
    for table in tables:
        console.print(terminal(table, console.width))
        absent = left_out(table, console.width)
        more = [f"No room here for {', '.join(absent)}: see {table.name}.md"] if absent else []
        for note in [*table.notes, *more]:
            console.print(f"  {note}", style="dim", markup=False)
        console.print()
    for note in notes:
        typer.echo(f"note: {note}")


def _complain(results: Results) -> None:
    from eventide.reports.tables.writing import failures

    typer.secho(f"{len(results.failures)} runs failed:", err=True, fg="red")
    for line in failures(results):
        typer.echo(f"  {line}", err=True)
    typer.echo("  the same command tries them again", err=True)
