"""Putting a new folder in an old one's place, so that a reader always finds one of the two.

Linux exchanges two folders in one step (`renameat2`). Where the system or the file system has no
such step, the older folder is renamed to ``.NAME.previous`` and then the new one to ``NAME``. In
between, and after a crash in between, the older one is found under its other name: readers look
there too (and write nothing), and the next writer puts it back or removes it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

HERE = -100  # AT_FDCWD: paths are meant from the working directory
EXCHANGE = 2  # RENAME_EXCHANGE


def aside(path: Path) -> Path:
    """Return where the older folder lies while it cannot lie at ``path``."""
    return path.parent / f".{path.name}.previous"


def replace_folder(new: Path, path: Path) -> None:
    """Put ``new`` at ``path``; an older folder there ends up at ``new`` or aside."""
    if not path.exists():
        new.rename(path)
    elif not exchange(new, path):
        step_aside(new, path)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where there is no such step."""
    if sys.platform != "linux" or not hasattr(_libc(), "renameat2"):
        return False
    if not _libc().renameat2(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE):
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def step_aside(new: Path, path: Path) -> None:
    """Replace in two steps: the older folder steps aside, the new one takes its place."""
    previous = aside(path)
    shutil.rmtree(previous, ignore_errors=True)
    path.rename(previous)
    try:
        new.rename(path)
    except OSError:
        previous.rename(path)
        raise


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
