"""Silence for warnings that mean nothing here, safe beside other threads of ours.

Python keeps one list of filters for all threads: two that change and restore it at the same time
may leave the wrong one behind, for good and for the whole program.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_lock = RLock()


@contextmanager
def quiet(kind: type[Warning] = Warning) -> Iterator[None]:
    """Ignore warnings of a kind, one thread at a time.

    >>> with quiet(UserWarning):
    ...     warnings.warn("never mind", stacklevel=1)
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", kind)
        yield
