"""Which message has which elements, as compressed rows; this defines the graph of a view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse

from eventide.arrays import appended
from eventide.graphs.keys import KeyIndex, Keys, check_distinct, element_keys

Ints = npt.NDArray[np.int64]


def offsets(lengths: npt.ArrayLike) -> Ints:
    """Row pointers of compressed rows with these lengths: 0, l0, l0 + l1, ...

    >>> offsets([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    pointers = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=pointers[1:])
    return pointers


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate the ranges [start, start + length) without a loop.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    pointers = offsets(lengths)
    return np.repeat(starts - pointers[:-1], lengths) + np.arange(pointers[-1], dtype=np.int64)


@dataclass(frozen=True)
class Incidence:
    """Message i has the elements ``elements[pointers[i]:pointers[i + 1]]``, sorted, each once.

    ``keys[e]`` is the 128-bit key of element e; it identifies the element in other incidences.

    >>> shared = Incidence.of([["flood", "fire"], [], ["fire"]])
    >>> len(shared), shared.degrees.tolist(), shared.elements.tolist()
    (3, [2, 0, 1], [0, 1, 1])
    """

    pointers: Ints
    elements: Ints
    keys: Keys

    @classmethod
    def build(cls, messages: Ints, elements: Ints, count: int, keys: Keys) -> Incidence:
        """From (message, element) pairs in any order, repeats allowed, for ``count`` messages."""
        check_distinct(keys)
        width = max(len(keys), 1)
        pairs = np.unique(messages.astype(np.int64) * width + elements)
        rows, columns = np.divmod(pairs, width)
        return cls(offsets(np.bincount(rows, minlength=count)), columns, keys)

    @classmethod
    def of(cls, sets: Sequence[Sequence[str]], kind: str = "", salt: bytes = b"") -> Incidence:
        """From one list of elements per message."""
        distinct = dict.fromkeys(name for row in sets for name in row)
        names = {name: index for index, name in enumerate(distinct)}
        lengths = [len(row) for row in sets]
        return cls.build(
            np.repeat(np.arange(len(sets), dtype=np.int64), lengths),
            np.array([names[name] for row in sets for name in row], dtype=np.int64),
            len(sets),
            element_keys(kind, names, salt),
        )

    def __len__(self) -> int:
        return len(self.pointers) - 1

    @cached_property
    def index(self) -> KeyIndex:
        """Where each key is."""
        return KeyIndex(self.keys)

    @property
    def degrees(self) -> Ints:
        """How many elements each message has."""
        return np.diff(self.pointers)

    @property
    def rows(self) -> Ints:
        """The message of every incidence, beside ``elements``."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.degrees)

    def take(self, rows: Ints) -> Incidence:
        """The incidence of these messages alone; element indices and keys stay the same."""
        lengths = self.degrees[rows]
        picked = ranges(self.pointers[rows], lengths)
        return Incidence(offsets(lengths), self.elements[picked], self.keys)

    def compact(self) -> Incidence:
        """The same incidence without the keys of elements that no message has."""
        used, elements = np.unique(self.elements, return_inverse=True)
        return Incidence(self.pointers, elements.astype(np.int64), self.keys[used])


def joined(first: Incidence, second: Incidence) -> Incidence:
    """Return the incidence of the messages of both, in this order; elements meet by their keys.

    >>> both = joined(Incidence.of([["a"], ["b"]]), Incidence.of([["c", "b"]]))
    >>> both.degrees.tolist(), both.elements.tolist()
    ([1, 1, 2], [0, 1, 1, 2])
    """
    known = first.index.find(second.keys)
    fresh = np.flatnonzero(known < 0)
    known[fresh] = len(first.keys) + np.arange(len(fresh))
    rows, elements = second.rows, known[second.elements]
    order = np.lexsort((elements, rows))
    both = Incidence(
        appended(first.pointers, first.pointers[-1] + second.pointers[1:]),
        appended(first.elements, elements[order]),
        appended(first.keys, second.keys[fresh]),
    )
    both.__dict__["index"] = first.index.joined(second.keys[fresh])
    return both


def shared_counts(left: Incidence, right: Incidence) -> scipy.sparse.csr_array:
    """How many elements message i of ``left`` and j of ``right`` share, as a sparse matrix."""
    keys = np.unique(np.concatenate([left.keys, right.keys]))

    def matrix(each: Incidence) -> scipy.sparse.csr_array:
        columns = np.searchsorted(keys, each.keys)[each.elements]
        ones = np.ones(len(columns), dtype=np.int32)
        return scipy.sparse.csr_array((ones, columns, each.pointers), shape=(len(each), len(keys)))

    product = (matrix(left) @ matrix(right).T).tocsr()
    product.sort_indices()
    return product


def shared_pairs(left: Incidence, right: Incidence) -> tuple[Ints, Ints]:
    """All (i, j) where message i of ``left`` and j of ``right`` share an element, each pair once.

    >>> rows, columns = shared_pairs(Incidence.of([["a", "b"]]), Incidence.of([["b"], ["b", "a"]]))
    >>> list(zip(rows.tolist(), columns.tolist()))
    [(0, 0), (0, 1)]
    """
    product = shared_counts(left, right)
    rows = np.repeat(np.arange(len(left), dtype=np.int64), np.diff(product.indptr))
    return rows, product.indices.astype(np.int64)
