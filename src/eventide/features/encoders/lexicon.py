"""The tokens an encoder knows, as sorted keys: from a token's key to its column."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from eventide.features.encoders.tokens import Keys, Rows


class Lexicon:
    """Sorted distinct keys; the place of a key is its column.

    >>> Lexicon(np.array([3, 7, 9], dtype=np.uint64)).columns(np.array([9, 4], dtype=np.uint64))
    array([ 2, -1])
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def columns(self, keys: Keys) -> Rows:
        """Return the column of every key, -1 where it is unknown."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)


def frequent(counts: tuple[Keys, Rows], *, least: int, most: int) -> tuple[Keys, Rows]:
    """Keep the ``most`` commonest keys with a count of ``least`` or more; ties go by key."""
    keys, numbers = counts
    chosen = np.flatnonzero(numbers >= least)
    if len(chosen) > most:
        chosen = np.sort(chosen[np.argsort(-numbers[chosen], kind="stable")[:most]])
    return keys[chosen], numbers[chosen]


def tally(batches: Iterable[Keys]) -> tuple[Keys, Rows]:
    """Count keys over batches: the distinct keys, sorted, and how often each came."""
    keys: Keys = np.zeros(0, dtype=np.uint64)
    numbers: Rows = np.zeros(0, dtype=np.int64)
    for batch in batches:
        new, times = np.unique(batch, return_counts=True)
        keys, places = np.unique(np.concatenate((keys, new)), return_inverse=True)
        numbers = _added(np.concatenate((numbers, times)), places, len(keys))
    return keys, numbers


def _added(values: Rows, places: npt.NDArray[np.intp], size: int) -> Rows:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, places, values)
    return total
