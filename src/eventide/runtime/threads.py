"""One thread for little work: waking a second one for a few messages costs more than they do."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

FEW = 32
"""Up to this many messages are handled one by one, and by one thread (benchmarks/assigning.py)."""


class _OpenMp(NamedTuple):
    """Switches that count for the calling thread alone; ``torch.set_num_threads`` has others too.

    ``set_mkl`` takes the calling thread's own number for MKL, 0 for "as everybody", and returns the
    one before.
    """

    get: Callable[[], int]
    set: Callable[[int], object]
    set_mkl: Callable[[int], int]


@contextmanager
def threads_for(messages: int) -> Iterator[None]:
    """Let torch use one thread for a few messages; no other thread of the program is affected.

    >>> import torch
    >>> before = torch.get_num_threads()
    >>> with threads_for(1):
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    import torch  # not at the top: readers of messages ask this module for FEW, and need no torch

    openmp = _openmp() if messages <= FEW else None
    # Asking torch, too, so that a thread new to it has its number before it is lent another.
    if openmp is None or torch.get_num_threads() == 1:
        yield
        return
    usual, usual_mkl = openmp.get(), openmp.set_mkl(1)
    openmp.set(1)
    try:
        yield
    finally:
        openmp.set(usual)
        openmp.set_mkl(usual_mkl)


@cache
def _openmp() -> _OpenMp | None:
    """Find the OpenMP that torch itself is linked to; None where it has none that can be asked."""
    import torch

    for path in sorted((Path(torch.__file__).parent / "lib").glob("*torch_cpu.*")):
        try:
            library = ctypes.CDLL(str(path))
            return _OpenMp(
                library.omp_get_max_threads,
                library.omp_set_num_threads,
                getattr(library, "MKL_Set_Num_Threads_Local", lambda number: 0),
            )
        except (OSError, AttributeError):
            continue
    return None
