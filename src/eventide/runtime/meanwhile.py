"""Something small that is done again and again, by a thread, while something else goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def meanwhile(work: Callable[[], object], pauses: Iterable[float], name: str) -> Iterator[None]:
    """Inside, call ``work`` after each of the ``pauses``, in seconds, as long as there are any.

    >>> with meanwhile(print, [], "eventide-nothing"):
    ...     sum(range(3))
    3
    """
    over = Event()

    def follow() -> None:
        for pause in pauses:
            if over.wait(pause):
                return
            work()

    thread = Thread(target=follow, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
