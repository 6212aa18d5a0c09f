"""A process of our own, the command line's or a worker's: set up for a quick start and for company.

Threads that wait soon sleep instead of spinning on, freed memory stays at hand while something
large is computed over and over, and reference cycles are looked for less often. A program that uses
Eventide as a library decides this itself: there we only warn that its threads spin.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from eventide.runtime.cores import POLARS_THREADS, allowed_cores, usable_cores

# Names and numbers of glibc's malloc.h; its default values come second.
_TRIM_THRESHOLD, _TRIM_DEFAULT = -1, 128 * 1024
_MMAP_MAX, _MMAP_MAX_DEFAULT = -4, 65_536
_NEVER = 2**31 - 1
MOST_KEPT = 300_000
"""Messages up to which memory is kept."""
_own = False
_library: ctypes.CDLL | None = None
"""The C library of a process that is ours."""
_keeps = False
"""Whether memory is kept just now."""


def is_own() -> bool:
    """Say whether this process is ours to set up, and not that of a program that uses Eventide."""
    return _own


def make_own() -> None:
    """Take this process for ours: let what is here and ``quick_products`` have their effect.

    Memory is not kept where the user set the allocator up, and where it is not glibc's.
    """
    global _own, _library
    _own = True
    chosen = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ)
    _library = None if chosen else _glibc()


@contextmanager
def kept_memory(messages: int = 0) -> Iterator[None]:
    """Inside, freed memory stays with this process; afterwards all of it goes back.

    Nothing happens in a process that is not ours, nor for very many ``messages``: what they free is
    large, and kept in pieces it would be missing elsewhere. It changes no result.

    >>> with kept_memory():
    ...     sum(range(3))
    3
    """
    global _keeps
    library = _library if messages <= MOST_KEPT else None
    if library is None:
        yield
        return
    library.mallopt(_MMAP_MAX, 0)
    library.mallopt(_TRIM_THRESHOLD, _NEVER)
    _keeps = True
    try:
        yield
    finally:
        _keeps = False
        library.mallopt(_MMAP_MAX, _MMAP_MAX_DEFAULT)
        library.mallopt(_TRIM_THRESHOLD, _TRIM_DEFAULT)
        library.malloc_trim(0)


def give_back_memory() -> None:
    """Give the system what is free between the pieces in use, unless memory is kept.

    Nothing happens in a process that is not ours.
    """
    if _library is not None and not _keeps:
        _library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    known = all(
        hasattr(library, name) for name in ("mallopt", "malloc_trim", "gnu_get_libc_version")
    )
    return library if known else None


WAITING, SPINNING = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"
SPINS = 600
"""Looks of a waiting thread before it sleeps, some microseconds; GNU's OpenMP has 300,000."""
OBJECTS = 50_000
"""New objects after which the collector looks for cycles; Python's own choice is 700 or 2,000."""
POOLS = ("OMP_NUM_THREADS", POLARS_THREADS)
EVERY_POOL = (*POOLS, "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
"""Variables that say how many threads a process uses, for whatever it computes."""


def set_up() -> None:
    """Set this process up; must come before torch and polars are loaded, which look once."""
    os.environ.update(environment())
    make_own()
    look_for_cycles_less_often()


def look_for_cycles_less_often() -> None:
    """Let the collector of reference cycles wait for more objects, and leave out its last round.

    torch and polars make half a million objects that live as long as the process. Looking through
    them over and over, and once more at the end, takes a fifth of a short command's time
    (benchmarks/start.py).
    """
    gc.set_threshold(max(OBJECTS, gc.get_threshold()[0]), *gc.get_threshold()[1:])
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def environment() -> dict[str, str]:
    """Return the variables a process of ours should have, without those the user chose.

    Threads that wait should sleep: OpenMP's spin otherwise, and beside other trainings an epoch
    then takes up to 50 times as long (benchmarks/busy.py). But they should spin for a moment: the
    next product comes in microseconds, and waking up takes longer than many products. Where a
    container may use but a share of the cores, more threads than that only hold each other up.

    >>> set(environment()) <= {WAITING, SPINNING, *POOLS}
    True
    """
    wanted = {} if waiting_chosen() else {WAITING: "PASSIVE", SPINNING: str(SPINS)}
    cores = usable_cores()
    if cores < allowed_cores():
        wanted |= dict.fromkeys(POOLS, str(cores))
    return {name: value for name, value in wanted.items() if name not in os.environ}


def waiting_chosen() -> bool:
    """Tell whether the environment already says how OpenMP's threads wait."""
    return WAITING in os.environ or SPINNING in os.environ


BUSY = 0.5
"""Load per usable core above which others are surely at work too."""
_said = False


def warn_if_spinning() -> None:
    """Log once per process that OpenMP's threads spin while the machine is busy.

    Beside other busy programs an epoch may then take several times as long, beside other trainings
    up to 50 times (benchmarks/busy.py).
    """
    import torch  # not at the top: ``set_up`` must run before torch is imported

    global _said
    if _said or waiting_chosen() or torch.get_num_threads() == 1:
        return
    cores, load = usable_cores(), _load()
    if load > BUSY * cores:
        _said = True
        logging.getLogger("eventide").warning(
            "the machine is busy (load %.1f on %d cores) and torch's threads spin while they wait, "
            "which may slow training down several times; set %s=PASSIVE before torch is imported, "
            "or call torch.set_num_threads(1)",
            load,
            cores,
            WAITING,
        )


def _load() -> float:
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # not everywhere
        return 0.0
