"""How far many runs are: every step for a person at a terminal, a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from eventide.cli.console import say
from eventide.progress import a_person_looks, duration, heartbeat


@contextmanager
def run_lines() -> Iterator[Callable[[str], None]]:
    """Give a function to call with what is going on; the time so far is said with it."""
    if a_person_looks():
        yield lambda told: say(told, err=True)
        return
    started, latest = perf_counter(), ["starting"]
    with heartbeat(lambda: f"{latest[0]} ({duration(perf_counter() - started)} so far)"):
        yield lambda told: latest.__setitem__(0, told)
