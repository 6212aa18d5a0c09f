"""``eventide compare``: methods side by side, over seeds, with tables and significance."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.console import print_json, say
from eventide.cli.options import (
    AsJson,
    ChangeForAll,
    Entities,
    Preset,
    Source,
    SplitName,
    Workers,
    changed_settings,
)
from eventide.cli.reading import Reading, reads_messages
from eventide.cli.watching import run_lines
from eventide.errors import BadSetting

if TYPE_CHECKING:
    from eventide.experiments import Results, Step
    from eventide.reports.tables.table import Table

IN_A_PIPE = 1_000
"""Columns to draw tables in where no person's terminal limits them."""


@reads_messages
def compare(
    source: Source,
    reading: Reading,
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, variants (ucl-ec+cb) and groups, joined by commas: long-tail, "
            "event-detection, baselines, all, ablation, ablation-grid, controls."
        ),
    ] = "long-tail",
    seeds: Annotated[
        str,
        typer.Option(
            help="How many (10 is 0 to 9), a range (100-104) or a list (3,5). A seed sets split "
            "and initialisation, the same for every method."
        ),
    ] = "10",
    split: SplitName = "random",
    protocol: Annotated[
        str | None,
        typer.Option(help="transductive, or inductive, which a chronological split always is."),
    ] = None,
    preset: Preset = "default",
    encoder: Annotated[
        str | None, typer.Option(help="wordllama, tfidf-svd, minilm, ...; joined with +.")
    ] = None,
    entities: Entities = "rules",
    change: ChangeForAll = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Reference method for the significance tests; by default ucl-ec+cb where it is "
            "compared, else ucl-ec, ucl+cb or ucl, else the first method.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for runs and tables, comparison-NAME by default; runs in it are not done "
            "again, tables in it are replaced."
        ),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Run methods side by side and print tables: accuracy, F1, NMI, AMI, ARI, significance, times.

    Every finished run is kept: the same command goes on where it was stopped. After a change of the
    code the runs are done again.

    Example: eventide compare crisislex-t7 --methods ucl-ec+cb,ucl-ec,ce --seeds 3

    Example: eventide compare crisislex-t7 --methods long-tail --out results

    Example: eventide compare messages.jsonl --methods controls --split chronological
    """
    chosen_seeds = read_seeds(seeds)
    changes = {
        name.replace("__", "."): value for name, value in changed_settings(change or []).items()
    }
    from eventide.experiments import choose, read_experiment_data
    from eventide.experiments import compare as run_all
    from eventide.experiments.jobs import check_request, check_runs_folder
    from eventide.experiments.prepared import data_name, needed_lists
    from eventide.features.encoders import DEFAULT_ENCODER
    from eventide.reports.tables.collection import collect
    from eventide.reports.tables.significance_table import chosen_reference
    from eventide.reports.tables.table_files import as_data, check_tables, write_tables

    choice, name = choose(methods), data_name(source)
    reference = chosen_reference([each.name for each in choice.variants], reference)
    asked: dict[str, Any] = {
        "split": split,
        "protocol": protocol,
        "preset": preset,
        "encoder": encoder or DEFAULT_ENCODER,
        "changes": changes,
        "workers": workers,
    }
    check_request(choice.variants, chosen_seeds, entities=entities, **asked)
    folder = check_runs_folder(out or Path(f"comparison-{name}"), inputs=[source])
    replaced = check_tables(folder, inputs=[source])
    intake = reading.read(source, lists=needed_lists(choice.variants))
    data = read_experiment_data(intake, choice.variants, entities=entities, name=name)
    try:
        with _bar() as watch:
            results = run_all(data, choice.variants, chosen_seeds, out=folder, watch=watch, **asked)
    except KeyboardInterrupt:
        say(f"stopped; the same command goes on with what is in {folder}", err=True)
        raise typer.Exit(1) from None
    tables = collect(results, choice.groups, data=data, reference=reference)
    written = write_tables(results, tables, folder)
    if as_json:
        print_json(as_data(results, choice.notes, reference))
    else:
        _show(tables, [*choice.notes, *results.notes])
        say(f"runs:   {results.path}\ntables: {written[0]}, and each as .md .tex .csv")
        if replaced:
            say("note: the tables of an earlier comparison in this folder were replaced")
    if results.failures:
        _complain(results)
        raise typer.Exit(1)


def read_seeds(text: str) -> list[int]:
    """Read ``--seeds``: how many, a range, or a list.

    >>> read_seeds("3"), read_seeds("100-102"), read_seeds("4,7")
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
    """Give a function to call with every step: a bar for a person, else a line now and then."""
    if not sys.stderr.isatty():
        with run_lines() as tell:
            yield lambda step: _tell(step, tell)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = TextColumn("runs"), BarColumn(), MofNCompleteColumn(), Elapsed()
    console = Console(stderr=True)
    with Progress(*columns, TextColumn("{task.description}"), console=console) as bar:
        task = bar.add_task("", total=None)

        def watch(step: Step) -> None:
            for note in step.notes:
                console.print(f"note: {note}", markup=False)
            bar.update(task, completed=step.done, total=step.total, description=_said(step))

        yield watch


def _tell(step: Step, tell: Callable[[str], None]) -> None:
    for note in step.notes:
        say(f"note: {note}", err=True)
    said = _said(step)
    tell(f"{step.done} of {step.total} runs{': ' if said else ''}{said}")


def _said(step: Step) -> str:
    if step.run is None:
        return ""
    outcome = step.run.outcome
    ended = "failed" if outcome is None else f"ACC {outcome.test.accuracy:.2%}"
    return f"{step.run.variant} seed {step.run.seed}: {ended}"


def _show(tables: list[Table], notes: list[str]) -> None:
    from rich.console import Console

    from eventide.reports.tables.table_formats import left_out, terminal

    console = Console(highlight=False)
    if not console.is_terminal:  # in a pipe nothing has to be folded or left out
        console = Console(highlight=False, width=IN_A_PIPE)
    for table in tables:
        console.print(terminal(table, console.width))
        absent = left_out(table, console.width)
        more = [f"No room here for {', '.join(absent)}: see {table.name}.md"] if absent else []
        for note in [*table.remarks, *more]:
            console.print(f"  {note}", style="dim", markup=False)
        console.print()
    for note in notes:
        say(f"note: {note}")


def _complain(results: Results) -> None:
    from eventide.reports.tables.table_files import failures

    say(f"{len(results.failures)} runs failed:", err=True, style="red")
    for line in failures(results):
        say(f"  {line}", err=True)
    say("  the same command tries them again", err=True)
