"""Work on all cores at once, for what runs without Python's lock: polars, numpy, tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from eventide.runtime.cores import own_threads

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """Yield ``work(item)`` of each item in order; one item, or one core, needs no other thread.

    >>> list(side_by_side(len, ["flood", "fire"]))
    [5, 4]
    """
    threads = min(len(items), own_threads())
    if threads < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as workers:
        yield from workers.map(work, items)
