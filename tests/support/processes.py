"""Waiting for other processes, never for ever."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import AnyStr

LONG = 300.0
"""Seconds that a command may take on a busy machine."""


def until(
    there: Callable[[], object], what: str = "it", seconds: float = 120.0, pause: float = 0.02
) -> None:
    """Wait until something is there."""
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(pause)


def first_line(process: subprocess.Popen[AnyStr], seconds: float = LONG) -> AnyStr:
    """Return the first line that a process prints; one that prints none in time is killed."""
    assert process.stdout is not None
    bound = threading.Timer(seconds, process.kill)
    bound.start()
    try:
        return process.stdout.readline()
    finally:
        bound.cancel()


def opened_for_writing(pipe: Path, process: subprocess.Popen[bytes]) -> int:
    """Open a named pipe once a process has opened its end; one that has ended never will."""
    found: list[int] = []

    def there() -> bool:
        assert process.poll() is None, "it ended before it opened the pipe"
        try:
            found.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError as error:
            if error.errno != errno.ENXIO:  # nobody reads yet
                raise
        return bool(found)

    until(there, "a reader of the pipe")
    os.set_blocking(found[0], True)
    return found[0]
