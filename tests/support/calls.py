"""Counting how often functions of the project run, wherever they were imported to."""

from __future__ import annotations

import inspect
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def counted(*functions: Callable[..., Any]) -> Iterator[Counter[str]]:
    """Count the calls of ``functions`` by name, in this thread and in those started meanwhile.

    The real functions run. They are known by their code, so that no copy of a name is missed.
    ``element_keys`` is counted by the kind of what it hashes: ``element_keys(id)``.
    """
    codes = {inspect.unwrap(each).__code__: each.__qualname__ for each in functions}
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code in codes:
            name = codes[frame.f_code]
            kind = frame.f_locals["kind"] if name == "element_keys" else None
            calls[name if kind is None else f"{name}({kind})"] += 1

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
