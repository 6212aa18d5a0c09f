"""A value that is made when it is first asked for, once, however many threads ask together."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """What ``make`` returns, kept until it is dropped.

    >>> squares = Lazy(lambda: print("making") or [1, 4, 9])
    >>> squares.get() is squares.get()
    making
    True
    """

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._lock = RLock()
        self._made: tuple[Value] | None = None

    def get(self) -> Value:
        """Return the value; other threads wait while one makes it."""
        made = self._made
        if made is None:
            with self._lock:
                made = self._made
                if made is None:
                    made = self._made = (self._make(),)
        return made[0]

    def put(self, value: Value) -> None:
        """Keep a value that was made elsewhere."""
        with self._lock:
            self._made = (value,)

    def drop(self) -> None:
        """Forget the value: it is made anew when next asked for."""
        self._made = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A copy, deep or pickled, has a lock of its own.
        self.__dict__.update(state, _lock=RLock())
