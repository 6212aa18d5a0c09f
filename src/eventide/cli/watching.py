"""Training as a person watches it: a bar with the figures of the latest epoch, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Watch = Callable[[Mapping[str, float]], None]


@contextmanager
def watching(epochs: int) -> Iterator[Watch]:
    """Give a function to call with every epoch's row; it draws only if a person is looking."""
    if not sys.stderr.isatty():
        yield lambda row: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = TextColumn("training"), BarColumn(), MofNCompleteColumn()
    console = Console(stderr=True)
    with Progress(
        *columns, TextColumn("{task.description}"), console=console, transient=True
    ) as bar:
        task = bar.add_task("", total=epochs)

        def watch(row: Mapping[str, float]) -> None:
            bar.update(task, completed=row["epoch"], description=figures(row))

        yield watch


def figures(row: Mapping[str, float]) -> str:
    """Put an epoch's row into one line: validation first, then each loss term.

    >>> figures({"validation_accuracy": 0.9, "validation_f1": 0.88, "uncertainty": 0.1,
    ...          "error": 0.5, "total": 0.7, "seconds": 0.25})
    'ACC 90.0 %  F1 88.0 %  uncertainty 0.10  error 0.500  total 0.700  0.25 s'
    """
    validated = (("ACC", "validation_accuracy"), ("F1", "validation_f1"))
    shown = [
        f"{short} {row[name]:.1%}".replace("%", " %") for short, name in validated if name in row
    ]
    shown.append(f"uncertainty {row['uncertainty']:.2f}")
    terms = ("error", "calibration", "contrastive", "agreement", "total")
    shown += [f"{name} {row[name]:.3f}" for name in terms if name in row]
    return "  ".join([*shown, f"{row['seconds']:.2f} s"])
