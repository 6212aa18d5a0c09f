"""Keep freed memory at hand while something large is computed over and over.

The C library hands every large buffer back to the system as soon as it is freed, and the system
clears it page by page before it gives it out again. Where each step of a long computation needs
the same large buffers, that costs more than much of the arithmetic: graphs of some 100,000 messages
do, smaller ones hardly notice. The switch is one for the whole process and cannot be put back quite
as it was, so only processes of our own (``eventide.own_process``) may turn it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Names and numbers of glibc's malloc.h; its default values come second.
_TRIM_THRESHOLD, _TRIM_DEFAULT = -1, 128 * 1024
_MMAP_MAX, _MMAP_MAX_DEFAULT = -4, 65_536
_NEVER = 2**31 - 1
_library: ctypes.CDLL | None = None
"""The C library of a process that is ours."""


def keep_memory() -> None:
    """Let ``kept_memory`` have its effect in this process, unless the user set the allocator up.

    Only glibc knows how; elsewhere this does nothing.
    """
    global _library
    chosen = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ)
    _library = None if chosen else _glibc()


@contextmanager
def kept_memory() -> Iterator[None]:
    """Inside, freed memory stays with this process; afterwards all of it goes back.

    Nothing happens in a process that is not ours. It changes no result.

    >>> with kept_memory():
    ...     sum(range(3))
    3
    """
    library = _library
    if library is None:
        yield
        return
    library.mallopt(_MMAP_MAX, 0)
    library.mallopt(_TRIM_THRESHOLD, _NEVER)
    try:
        yield
    finally:
        library.mallopt(_MMAP_MAX, _MMAP_MAX_DEFAULT)
        library.mallopt(_TRIM_THRESHOLD, _TRIM_DEFAULT)
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    known = all(
        hasattr(library, name) for name in ("mallopt", "malloc_trim", "gnu_get_libc_version")
    )
    return library if known else None
