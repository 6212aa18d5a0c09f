"""How far many runs are, where no bar can be drawn: a plain line now and then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter

import typer

EVERY = 5.0
"""Seconds between two lines; what is done sooner is done in silence."""


@contextmanager
def run_lines() -> Iterator[Callable[[str], None]]:
    """Give a function to call with what is going on.

    A person at a terminal sees every call; elsewhere the latest one is said every few seconds,
    with the time so far, however long it takes until the next.
    """
    if sys.stderr.isatty():
        yield lambda told: typer.echo(told, err=True)
        return
    started, latest, over = perf_counter(), [""], Event()

    def say() -> None:
        while not over.wait(EVERY):
            if latest[0]:
                typer.echo(f"{latest[0]} ({perf_counter() - started:.0f} s so far)", err=True)

    teller = Thread(target=say, name="eventide-lines", daemon=True)
    teller.start()
    try:
        yield lambda told: latest.__setitem__(0, told)
    finally:
        over.set()
        teller.join()
