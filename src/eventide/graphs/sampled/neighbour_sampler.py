"""Samples at most ``cap`` neighbours of each message from the incidence, without listing edges.

Every message of the memory has a position on a circle, given by a hash of its key. Every reader has
a start on the circle, given by a hash of its own key. A reader takes the first ``cap`` neighbours
that follow its start. This is a uniform sample without repeats, and all neighbours if there are at
most ``cap``. It depends on the seed and the keys alone: not on the order of the messages, and not
on the other readers. Only the first ``cap + 1`` members of an element are examined, however many
it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eventide.arrays import GOLDEN, splitmix64
from eventide.graphs.incidence import Incidence, Ints, offsets, ranges
from eventide.graphs.keys import KEY_BYTES, KeyIndex, Keys

CHUNK = 1 << 16
"""Readers per chunk: bounds the memory and does not change the result."""
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Sample:
    """Reader i reads the messages ``sources[pointers[i]:pointers[i + 1]]``, ascending."""

    pointers: Ints
    sources: Ints

    @property
    def counts(self) -> Ints:
        """How many neighbours each reader has in the sample."""
        return np.diff(self.pointers)

    @property
    def readers(self) -> Ints:
        """The reader of every entry, beside ``sources``."""
        return np.repeat(np.arange(len(self.pointers) - 1, dtype=np.int64), self.counts)


class NeighbourSampler:
    """Samples at most ``cap`` neighbours of a message from a memory.

    >>> shared = Incidence.of([["a"], ["a", "b"], ["b"], ["c"]])
    >>> keys = np.array([b"one", b"two", b"three", b"four"], dtype="S16")
    >>> sampler = NeighbourSampler(shared, keys, cap=8, seed=0)
    >>> sampler.inside(keys).sources.tolist()
    [1, 0, 2, 1]
    """

    def __init__(self, memory: Incidence, keys: Keys, *, cap: int, seed: int) -> None:
        """``keys`` [N] identify the messages of the memory; all are different."""
        self.memory = memory
        self.cap = cap
        self.seed = seed
        positions = hashed(keys, seed)
        # the keys themselves break ties between equal hashes
        self._order = np.lexsort((keys, positions))
        self._positions = positions[self._order]
        self._rank = np.empty(len(keys), dtype=np.int64)
        self._rank[self._order] = np.arange(len(keys), dtype=np.int64)
        self._index = KeyIndex(memory.keys)
        # members of each element in the order of the circle, as one ascending array
        self._members = np.sort(memory.elements * len(keys) + self._rank[memory.rows])
        self._support = np.bincount(memory.elements, minlength=len(memory.keys)).astype(np.int64)
        self._first = offsets(self._support)[:-1]

    def inside(self, starts: Keys) -> Sample:
        """Sample the neighbours of every message of the memory, the message itself excluded.

        ``starts`` [N] give the start of each message on the circle.
        """
        return self._sample(self.memory, hashed(starts, self.seed + 1), self._rank)

    def outside(self, new: Incidence, starts: Keys) -> Sample:
        """Sample the memory's neighbours of messages that are not in the memory."""
        nobody = np.full(len(new), -1, dtype=np.int64)
        return self._sample(self.known(new), hashed(starts, self.seed + 1), nobody)

    def known(self, new: Incidence) -> Incidence:
        """The elements of new messages that the memory knows, by their index in the memory."""
        elements = self._index.find(new.keys)[new.elements]
        rows, elements = new.rows[elements >= 0], elements[elements >= 0]
        lengths = np.bincount(rows, minlength=len(new))
        return Incidence(offsets(lengths), elements[np.lexsort((elements, rows))], self.memory.keys)

    def _sample(self, readers: Incidence, starts: Hashes, own: Ints) -> Sample:
        parts = [
            self._sample_chunk(readers.take(rows), starts[rows], own[rows])
            for rows in np.array_split(np.arange(len(readers)), -(-len(readers) // CHUNK) or 1)
        ]
        return Sample(
            offsets(np.concatenate([part.counts for part in parts])),
            np.concatenate([part.sources for part in parts]),
        )

    def _sample_chunk(self, readers: Incidence, starts: Hashes, own: Ints) -> Sample:
        count = max(len(self._order), 1)
        start = np.searchsorted(self._positions, starts).astype(np.int64)
        begin, element = start[readers.rows], readers.elements
        size = self._support[element]
        # the first cap + 1 members from the start on, around the circle: one may be the reader
        taken = np.minimum(size, self.cap + 1)
        offset = np.searchsorted(self._members, element * count + begin) - self._first[element]
        step = ranges(offset, taken) % np.repeat(size, taken)
        rank = self._members[np.repeat(self._first[element], taken) + step] % count
        row = np.repeat(readers.rows, taken)
        others = rank != own[row]
        row, rank = row[others], rank[others]
        # nearest first, each once; then the first cap of every reader
        nearest = np.unique(row * count + (rank - start[row]) % count)
        row, distance = np.divmod(nearest, count)
        lengths = np.bincount(row, minlength=len(readers))
        among = np.arange(len(row)) - np.repeat(offsets(lengths)[:-1], lengths)
        row, distance = row[among < self.cap], distance[among < self.cap]
        sources = self._order[(distance + start[row]) % count]
        ascending = np.lexsort((sources, row))
        return Sample(offsets(np.bincount(row, minlength=len(readers))), sources[ascending])


def joined(incidences: Iterable[Incidence]) -> Incidence:
    """The union of views over the same messages: neighbours share an element in any view.

    >>> joined([Incidence.of([["a"], ["b"]]), Incidence.of([["b"], ["c"]])]).degrees.tolist()
    [2, 2]
    """
    views = list(incidences)
    keys, index = np.unique(np.concatenate([view.keys for view in views]), return_inverse=True)
    shift = offsets([len(view.keys) for view in views])
    elements = [view.elements + start for view, start in zip(views, shift, strict=False)]
    rows = np.concatenate([view.rows for view in views])
    return Incidence.build(rows, index[np.concatenate(elements)], len(views[0]), keys)


def hashed(keys: Keys, seed: int) -> Hashes:
    """Hash 128-bit keys to 64 bits, differently for every seed.

    >>> keys = np.array([b"a", b"b"], dtype="S16")
    >>> bool((hashed(keys, 0) != hashed(keys, 1)).all())
    True
    """
    halves = np.ascontiguousarray(keys).view(np.uint64).reshape(-1, KEY_BYTES // 8)
    state = np.full(len(keys), seed % 2**64, dtype=np.uint64)
    for half in halves.T:
        state = splitmix64((splitmix64(state + GOLDEN) ^ half) + GOLDEN)
    return state
