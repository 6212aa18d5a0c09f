"""Progress of long work: a bar on a terminal, a line every few seconds elsewhere.

Lines go to the logger ``eventide`` at level INFO: the command line shows them on standard error, a
program decides by its own logging set-up. Work of less than three seconds stays silent.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, repeat
from math import isfinite
from time import perf_counter
from typing import TypeVar

from eventide.runtime.meanwhile import meanwhile

Item = TypeVar("Item")
Say = Callable[[str], None]
EpochRow = Mapping[str, float]

FIRST, EVERY = 3.0, 5.0
"""Seconds until the first line, and between lines."""

log = logging.getLogger("eventide")
_counting = ContextVar("counting", default=False)
"""Whether this thread counts something already."""


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield ``items``, counted by a bar or by a line every few seconds.

    A single item is not counted: there is nothing to count, and drawing a bar takes time. Nor is
    what happens inside an item of a longer count, or in a worker process, whose parent counts.

    >>> list(track([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    from multiprocessing import parent_process  # here, for short commands need none of it

    if total == 1 or _counting.get() or parent_process() is not None:
        yield from items
        return
    _counting.set(True)
    try:
        yield from _counted(items, description, total)
    finally:
        _counting.set(False)


def _counted(items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    if on_terminal():
        from rich.console import Console
        from rich.progress import track as rich_track

        bar = Console(stderr=True)
        yield from rich_track(items, description, total=total, console=bar, transient=True)
    else:
        done, started = 0, perf_counter()

        def line() -> str:
            of = "" if total is None else f" of {total:,}"
            spent = perf_counter() - started
            left = time_left(spent / done * (total - done)) if total and done else ""
            return f"{description}: {done:,}{of}{left}"

        with heartbeat(line):
            for item in items:
                yield item
                done += 1


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print the name of a step that cannot be counted, once it takes more than three seconds."""
    started = perf_counter()
    with heartbeat(lambda: f"{what}: {duration(perf_counter() - started)} so far"):
        yield


@contextmanager
def report_epochs(epochs: int, say: Say = log.info) -> Iterator[Callable[[EpochRow], None]]:
    """Give a function to call with every epoch's row; a line every few seconds shows the progress.

    >>> with report_epochs(epochs=100) as watch:
    ...     watch({"epoch": 1, "seconds": 0.3})
    """
    progress = EpochProgress(epochs)
    with heartbeat(progress.line, say):
        yield progress.watch


class EpochProgress:
    """Progress of a training: the latest epoch's row, and how long the rest will take.

    >>> progress = EpochProgress(100)
    >>> progress.watch({"epoch": 40, "validation_accuracy": 0.91, "seconds": 0.5})
    >>> progress.line()
    'training: epoch 40 of 100, ACC 91.0 %, about 30 s left'
    """

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.row: EpochRow = {}
        self.seen = 0
        self.seconds = 0.0

    def watch(self, row: EpochRow) -> None:
        """Take an epoch's row of figures; it may know better how many epochs there will be."""
        self.row = row
        self.epochs = int(row.get("epochs", self.epochs))
        self.seen += 1
        self.seconds += row.get("seconds", 0.0)

    def left(self) -> float | None:
        """Return the seconds that the epochs to come will take, if all of them are needed."""
        if not self.seen:
            return None
        to_come = max(self.epochs - int(self.row["epoch"]), 0)
        return self.seconds / self.seen * to_come

    def line(self) -> str:
        """Write the progress as one line."""
        left = self.left()
        if left is None:
            return f"training: epoch 1 of {self.epochs} is not finished yet"
        epoch = int(self.row["epoch"])
        done = f"training: epoch {epoch} of {max(self.epochs, epoch)}"
        accuracy = percentage(self.row.get("validation_accuracy"))
        return done + (f", ACC {accuracy}" if accuracy else "") + time_left(left)


@contextmanager
def heartbeat(line: Callable[[], str], say: Say = log.info) -> Iterator[None]:
    """Print ``line()`` after three seconds and then every five, until the block ends."""
    if say == log.info and not log.isEnabledFor(logging.INFO):
        yield
        return
    with meanwhile(lambda: say(line()), chain([FIRST], repeat(EVERY)), "eventide-heartbeat"):
        yield


def on_terminal() -> bool:
    """Whether standard error is a terminal that can draw a bar."""
    stream = sys.stderr
    dumb = os.environ.get("TERM", "") in ("dumb", "unknown")
    return stream is not None and stream.isatty() and not dumb


def percentage(share: float | None) -> str:
    """Write a share as a percentage; nothing where there is none.

    >>> percentage(0.912), percentage(None), percentage(float("nan"))
    ('91.2 %', '', '')
    """
    return f"{100 * share:.1f} %" if share is not None and isfinite(share) else ""


def time_left(seconds: float) -> str:
    """Write the time that is left, as the end of a sentence."""
    return f", about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours.

    >>> duration(0.2), duration(42), duration(200), duration(8000)
    ('1 s', '42 s', '3 min', '2 h 13 min')
    """
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
