"""Progress of trainings and of runs on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from eventide.cli.console import say
from eventide.progress import (
    EpochProgress,
    duration,
    heartbeat,
    on_terminal,
    percentage,
    report_epochs,
)

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def run_lines() -> Iterator[Callable[[str], None]]:
    """Give a function that prints the current state of the runs, with the time so far."""
    if on_terminal():
        yield lambda told: say(told, err=True)
        return
    started, latest = perf_counter(), ["starting"]
    with heartbeat(lambda: f"{latest[0]} ({duration(perf_counter() - started)} so far)"):
        yield lambda told: latest.__setitem__(0, told)


Watch = Callable[[Mapping[str, float]], None]

BAR = 16
TERMS = ("total", "error", "calibration", "contrastive", "agreement")


@contextmanager
def watching(epochs: int) -> Iterator[Watch]:
    """Give a function to call with every epoch's row: it draws a bar, or a line now and then."""
    if not on_terminal():
        with report_epochs(epochs) as watch:
            yield watch
        return
    from rich.console import Console

    with bar(epochs, Console(stderr=True)) as watch:
        yield watch


@contextmanager
def bar(epochs: int, console: Console) -> Iterator[Watch]:
    """Draw a bar on ``console`` with the time left first and as many figures as there is room.

    It appears with the first epoch: before, encoding and graphs have bars of their own.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    progress = EpochProgress(epochs)
    room = console.width - len("training  /  00 min left  ") - BAR - 2 * len(str(epochs))
    columns = TextColumn("training"), BarColumn(BAR), MofNCompleteColumn()
    drawn = Progress(*columns, TextColumn("{task.description}"), console=console, transient=True)
    task = drawn.add_task("", total=epochs)

    def watch(row: Mapping[str, float]) -> None:
        progress.watch(row)
        left = f"{duration(progress.left() or 0)} left"
        told = "  ".join([left, *figures(row, room)])
        drawn.start()
        drawn.update(task, completed=row["epoch"], total=progress.epochs, description=told)

    try:
        yield watch
    finally:
        drawn.stop()


def figures(row: Mapping[str, float], room: int) -> list[str]:
    """List an epoch's figures, the most telling first, as far as ``room`` letters hold them.

    >>> row = {"validation_accuracy": 0.9, "validation_f1": 0.88, "uncertainty": 0.1, "total": 0.7}
    >>> figures(row, 80), figures(row, 24)
    (['ACC 90.0 %', 'F1 88.0 %', 'uncertainty 0.10', 'total 0.700'], ['ACC 90.0 %', 'F1 88.0 %'])
    """
    shown: list[str] = []
    for name, key in (("ACC", "validation_accuracy"), ("F1", "validation_f1")):
        if share := percentage(row.get(key)):
            shown.append(f"{name} {share}")
    if "uncertainty" in row:
        shown.append(f"uncertainty {row['uncertainty']:.2f}")
    shown += [f"{name} {row[name]:.3f}" for name in TERMS if name in row]
    while shown and len("  ".join(shown)) > room:
        shown.pop()
    return shown
