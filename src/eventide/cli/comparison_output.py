"""What a comparison prints: how far it is, its tables, and the runs that failed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eventide.cli.console import IN_A_PIPE, command, say
from eventide.cli.watching import run_lines

if TYPE_CHECKING:
    from eventide.experiments import Results, Step
    from eventide.experiments.regime_results import RegimeResults
    from eventide.reports.tables.table import Table


@contextmanager
def run_bar() -> Iterator[Callable[..., None]]:
    """Give a function to call with every step: a bar for a person, else a line now and then.

    It takes the name of the step's regime too, where there is one.
    """
    if not sys.stderr.isatty():
        with run_lines() as tell:
            yield lambda step, regime="": _tell(step, regime, tell)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = TextColumn("runs"), BarColumn(), MofNCompleteColumn(), Elapsed()
    console = Console(stderr=True)
    with Progress(*columns, TextColumn("{task.description}"), console=console) as bar:
        task = bar.add_task("", total=None)

        def watch(step: Step, regime: str = "") -> None:
            for note in step.notes:
                console.print(f"note: {_named(note, regime)}", markup=False)
            told = _named(_said(step), regime)
            bar.update(task, completed=step.done, total=step.total, description=told)

        yield watch


def _tell(step: Step, regime: str, tell: Callable[[str], None]) -> None:
    for note in step.notes:
        say(f"note: {_named(note, regime)}", err=True)
    said = _said(step)
    tell(_named(f"{step.done} of {step.total} runs{': ' if said else ''}{said}", regime))


def _named(text: str, regime: str) -> str:
    return f"{regime}: {text}" if regime else text


def _said(step: Step) -> str:
    if step.run is None:
        return ""
    outcome = step.run.outcome
    ended = "failed" if outcome is None else f"ACC {outcome.test.accuracy:.2%}"
    return f"{step.run.variant} seed {step.run.seed}: {ended}"


def table_width() -> int:
    """Return the columns to draw tables in; in a pipe nothing has to be folded or left out."""
    from rich.console import Console

    console = Console()
    return console.width if console.is_terminal else IN_A_PIPE


def show_tables(tables: Sequence[Table], notes: Iterable[str]) -> None:
    """Print tables at the width of the terminal, each with its remarks, and then the notes."""
    from rich.console import Console

    from eventide.reports.tables.table_formats import left_out, terminal

    console = Console(highlight=False, width=table_width())
    for table in tables:
        console.print(terminal(table, console.width))
        absent = left_out(table, console.width)
        more = [f"No room here for {', '.join(absent)}: see {table.name}.md"] if absent else []
        for note in [*table.remarks, *more]:
            console.print(f"  {note}", style="dim", markup=False)
        console.print()
    for note in notes:
        say(f"note: {note}")


def complain(results: Results | RegimeResults) -> None:
    """Say which runs failed, and why."""
    from eventide.reports.tables.table_files import failures

    say(f"{len(results.failures)} runs failed:", err=True, style="red")
    for line in failures(results):
        say(f"  {line}", err=True)
    say("  the same command tries them again", err=True)


def write_comparison(
    results: RegimeResults, path: Path, *, reference: str, tables: Sequence[Table], **more: Any
) -> None:
    """Write the page of a comparison; ``more`` are further fields of `Compared`."""
    from eventide.progress import step
    from eventide.reports.html.compared import Compared
    from eventide.reports.html.comparison_report import comparison_report
    from eventide.reports.html.html_page import write_page

    told = command(*sys.argv[1:])
    with step("drawing the page of the comparison"):
        page = comparison_report(Compared(results, reference, tables, command=told, **more))
    write_page(page, path)
