"""Progress for people: a bar on a terminal, silence in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield ``items`` while a bar on standard error counts them, if a person is looking.

    A single item gets no bar: there is nothing to count, and drawing one takes time.

    >>> list(track([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    if total == 1 or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as rich_track

    yield from rich_track(
        items, description, total=total, console=Console(stderr=True), transient=True
    )
