"""One thread for little work: waking a second one for a few messages costs more than they do.

On a busy machine it costs far more: each small product waits until the other thread gets a turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch

from eventide.few import FEW

_lock = Lock()
_inside = 0
_usual = 1


@contextmanager
def threads_for(messages: int) -> Iterator[None]:
    """Let torch use one thread for a few messages, and as many as before afterwards.

    >>> before = torch.get_num_threads()
    >>> with threads_for(1):
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    if messages > FEW:
        yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _usual
    with _lock:
        if _inside == 0:
            _usual = torch.get_num_threads()
        _inside += 1
    torch.set_num_threads(1)


def _leave() -> None:
    global _inside
    # Every thread of a program has a number of its own to give back.
    torch.set_num_threads(_usual)
    with _lock:
        _inside -= 1
