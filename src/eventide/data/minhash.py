"""Texts as sets of 5-character shingles: MinHash signatures and exact Jaccard, vectorised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array

SHINGLE = 5
HASHES = 70
# Shingles hashed at once: small enough for the processor's cache.
_AT_ONCE = 1 << 18
_MIX = np.uint64(0x9E3779B97F4A7C15)

Ints = NDArray[np.int64]


def signatures(texts: pl.Series, seed: int) -> NDArray[np.uint32]:
    """Give each text ``HASHES`` minima; two texts agree on one with the probability of Jaccard.

    Shapes: N texts -> [N, HASHES].
    """
    random = np.random.default_rng(seed)
    flips = random.integers(0, 1 << 32, HASHES, dtype=np.uint32)
    factors = random.integers(0, 1 << 32, HASHES, dtype=np.uint32) | np.uint32(1)
    result = np.empty((len(texts), HASHES), dtype=np.uint32)
    lengths = texts.str.len_chars().to_numpy().astype(np.int64)
    # Whole texts in each piece, about _AT_ONCE characters long.
    piece = (np.cumsum(lengths) - lengths) // _AT_ONCE
    edges = np.flatnonzero(np.diff(piece, prepend=-1, append=piece[-1:] + 1))
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        hashes, starts = shingles(texts[start:stop])
        small = (hashes >> np.uint64(32)).astype(np.uint32)
        for column in range(HASHES):
            permuted = (small ^ flips[column]) * factors[column]
            result[start:stop, column] = np.minimum.reduceat(permuted, starts[:-1])
    return result


def shingles(texts: pl.Series) -> tuple[NDArray[np.uint64], Ints]:
    """Hash every run of 5 characters; text i owns ``hashes[starts[i]:starts[i + 1]]``.

    A text under 5 characters is filled up with spaces to one shingle.
    """
    padded = texts.str.pad_end(SHINGLE)
    lengths = padded.str.len_chars().to_numpy().astype(np.int64)
    joined = "".join(padded.to_list()).encode("utf-32-le")
    characters = np.frombuffer(joined, dtype=np.uint32).astype(np.uint64)
    count = max(0, len(characters) - SHINGLE + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(SHINGLE):
        hashes = (hashes ^ characters[offset : offset + count]) * _MIX
        hashes ^= hashes >> np.uint64(29)
    # The last SHINGLE - 1 places of each text start a run that would cross into the next one.
    ends = np.cumsum(lengths)
    crossing = (ends[:-1, None] - np.arange(1, SHINGLE)).ravel()
    inside = np.ones(count, dtype=bool)
    inside[crossing] = False
    starts = np.concatenate([[0], np.cumsum(lengths - SHINGLE + 1)])
    return hashes[inside], starts


def jaccard(texts: pl.Series, first: Ints, second: Ints) -> NDArray[np.float64]:
    """Compare pairs of texts, given by position, as sets of shingles."""
    if not len(first):
        return np.zeros(0)
    used, position = np.unique(np.concatenate([first, second]), return_inverse=True)
    sets = _sets(texts.gather(used))
    sizes = np.diff(sets.indptr)
    one, other = position[: len(first)], position[len(first) :]
    shared = sets[one].multiply(sets[other]).sum(axis=1)
    return np.asarray(shared / (sizes[one] + sizes[other] - shared), dtype=np.float64)


def _sets(texts: pl.Series) -> Any:
    hashes, starts = shingles(texts)
    # 62 bits of a hash name a column; the matrix is never wider in memory than what it holds.
    columns = (hashes >> np.uint64(2)).astype(np.int64)
    sets = csr_array(
        (np.ones(len(columns)), columns, starts), shape=(len(texts), 1 << 62), dtype=np.float64
    )
    sets.sum_duplicates()
    sets.data[:] = 1.0
    return sets


def slices(length: int, size: int) -> Iterator[slice]:
    """Cut ``range(length)`` into slices of ``size``.

    >>> [(part.start, part.stop) for part in slices(5, 2)]
    [(0, 2), (2, 4), (4, 6)]
    """
    return (slice(start, start + size) for start in range(0, length, size))
