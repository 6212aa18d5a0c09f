"""Numpy arrays: rows of unit length, and keys whose bits are mixed."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Float = TypeVar("Float", np.float32, np.float64)

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, odd: the step of splitmix64 and a good factor for hashes."""


def unit_rows(vectors: NDArray[Float]) -> NDArray[Float]:
    """Scale every row of ``vectors`` [n, d] to length one; a zero row stays zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    # float64 lengths: a float32 square overflows for entries beyond 1e19
    lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=vectors.dtype)


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
