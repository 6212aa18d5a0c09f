"""Numpy arrays: rows of unit length, arrays that grow, and keys whose bits are mixed."""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import Any, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

Float = TypeVar("Float", np.float32, np.float64)

SPARE = 4
"""An array that grows gets room for a quarter more, so that it is rarely copied."""
_used: dict[int, tuple[ref[NDArray[Any]], int]] = {}
_lock = Lock()

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, odd: the step of splitmix64 and a good factor for hashes."""

AT_ONCE = 256
"""Rows that are scaled at a time: their squares stay in the processor's cache."""


def unit_rows(vectors: NDArray[Float]) -> NDArray[Float]:
    """Scale every row of ``vectors`` [n, d] to length one; a zero row stays zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    found = np.empty_like(vectors)
    for start in range(0, len(vectors), AT_ONCE):
        some = vectors[start : start + AT_ONCE]
        # float64 lengths: a float32 square overflows for entries beyond 1e19
        lengths = np.sqrt(np.square(some, dtype=np.float64).sum(axis=1, keepdims=True))
        lengths[lengths == 0] = 1.0
        np.divide(some, lengths, out=found[start : start + AT_ONCE], casting="same_kind")
    return found


def splitmix64(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Spread values over 64 bits: every bit of the input reaches every bit.

    This is the finaliser of the splitmix64 generator; its next state is the last plus `GOLDEN`.

    >>> splitmix64(np.array([1, 2])).tolist()
    [6238072747940578789, 15839785061582574730]
    """
    found = values.astype(np.uint64)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)), dtype=np.uint64)


def appended(array: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
    """Return the rows of ``array`` and, after them, those of ``more``, as its type.

    What this returned has room behind it: appending to that again copies ``more`` alone, unless
    somebody else has appended to it before.

    >>> first = appended(np.array([1, 2]), np.array([3]))
    >>> second, other = appended(first, np.array([4])), appended(first, np.array([5]))
    >>> second.base is first.base, second.tolist(), other.tolist(), first.tolist()
    (True, [1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3])
    """
    total, key = len(array) + len(more), _address(array)
    with _lock:
        base = _room_behind(array, total)
        if base is None:
            room = total + max(total // SPARE, 64)
            base = np.empty((room, *array.shape[1:]), dtype=array.dtype)
            base[: len(array)] = array
            key = _address(base)
            kept = ref(base, partial(_forget, key))
        else:
            kept = _used[key][0]
        _used[key] = kept, total
        base[len(array) : total] = more
    return base[:total]


def _address(array: NDArray[Any]) -> int:
    """Where the data begins: the same for a tensor of torch that shares it."""
    return int(array.__array_interface__["data"][0])


def _forget(key: int, gone: ref[NDArray[Any]]) -> None:
    if key in _used and _used[key][0] is gone:
        del _used[key]


def _room_behind(array: NDArray[Any], total: int) -> NDArray[Any] | None:
    """Return the whole of which ``array`` is all that is used, if ``total`` rows fit into it."""
    there, used = _used.get(_address(array), (None, 0))
    base = None if there is None else there()
    if base is None or used != len(array) or total > len(base):
        return None
    same = array.strides == base.strides and array.dtype == base.dtype
    return base if same and array.shape[1:] == base.shape[1:] else None
