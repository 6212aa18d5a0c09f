"""Messages with equal elements are one profile; shared subsets of elements are exact keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy.sparse

from eventide.graphs.incidence import Incidence, Ints, offsets

Flags = npt.NDArray[np.bool_]
# beyond this many co-occurrences the search for dominated elements costs more than it saves
DOMINATED_LIMIT = 200_000_000


def keep_elements(incidence: Incidence, keep: Flags, by_row: bool = False) -> Incidence:
    """Drop incidences of elements (or, ``by_row``, of messages) where ``keep`` is False.

    Indices and keys stay the same.

    >>> keep_elements(Incidence.of([["a", "b"], ["b"]]), np.array([False, True])).degrees.tolist()
    [1, 1]
    """
    if keep.all():
        return incidence
    kept = keep[incidence.rows if by_row else incidence.elements]
    lengths = np.bincount(incidence.rows[kept], minlength=len(incidence))
    return Incidence(offsets(lengths), incidence.elements[kept], incidence.keys)


def linking(incidence: Incidence) -> Incidence:
    """Keep only elements that link messages no other element links: the same graph, fewer elements.

    An element of one message links no messages. Element a is redundant if every message with a also
    has b: messages linked by a are linked by b. Exact, and it removes most subsets.

    >>> linking(Incidence.of([["a", "b"], ["a", "b"], ["b", "rare"]])).degrees.tolist()
    [1, 1, 1]
    """
    incidence = keep_elements(
        incidence, np.bincount(incidence.elements, minlength=len(incidence.keys)) > 1
    )
    if np.sum(incidence.degrees.astype(np.float64) ** 2) > DOMINATED_LIMIT:
        return incidence
    return keep_elements(incidence, ~_dominated(incidence))


def _dominated(incidence: Incidence) -> Flags:
    """Elements that occur only together with some other one (of equals, the first is kept)."""
    matrix = element_matrix(incidence)
    together = (matrix.T @ matrix).tocoo()
    support = np.bincount(incidence.elements, minlength=len(incidence.keys))
    a, b = together.row, together.col
    inside = (a != b) & (together.data == support[a])
    dominated = inside & ((support[b] > support[a]) | (b < a))
    answer = np.zeros(len(incidence.keys), dtype=bool)
    answer[a[dominated]] = True
    return answer


def element_matrix(incidence: Incidence) -> scipy.sparse.csr_array:
    """The incidence as a sparse 0/1 matrix, messages by elements."""
    ones = np.ones(len(incidence.elements), dtype=np.int64)
    shape = (len(incidence), len(incidence.keys))
    return scipy.sparse.csr_array((ones, incidence.elements, incidence.pointers), shape=shape)


def profiles(incidence: Incidence) -> tuple[Ints, Incidence]:
    """Find the distinct element sets; return each message's set index and one row for each set.

    Exact: sets are compared element by element, never by a hash.

    >>> profile, sets = profiles(Incidence.of([["b", "a"], [], ["a", "b"]]))
    >>> profile.tolist(), sets.degrees.tolist()
    ([1, 0, 1], [0, 2])
    """
    degrees = incidence.degrees
    width = max(len(incidence.keys), 1)
    prefix = np.zeros(len(incidence), dtype=np.int64)
    active = np.flatnonzero(degrees)
    for position in range(int(degrees.max(initial=0))):
        active = active[degrees[active] > position]
        codes = prefix[active] * width + incidence.elements[incidence.pointers[active] + position]
        prefix[active] = np.unique(codes, return_inverse=True)[1]
    # the index of a prefix is unique among sets of one size only
    codes = degrees * (len(incidence) + 1) + prefix
    _, first, profile = np.unique(codes, return_index=True, return_inverse=True)
    return profile.astype(np.int64), incidence.take(first)


# a message with at most so many elements has its subsets as keys (63 of them) ...
MOST = 6
# ... and with up to so many, as long as all subsets together stay few
MOST_AFFORDABLE = 10
SLOTS_EACH = 64


def affordable(degrees: Ints) -> int:
    """The number of elements up to which subsets become keys, given that of all messages.

    Listing neighbours costs more than subsets for a few wide messages, and less for very many.

    >>> affordable(np.array([1] * 1000 + [9])), affordable(np.array([9] * 1000 + [1]))
    (10, 8)
    """
    most = MOST_AFFORDABLE
    while most > MOST:
        slots = np.sum(1 << degrees[degrees <= most])
        if slots <= SLOTS_EACH * len(degrees):
            break
        most -= 1
    return most


def subset_sizes(masks: Ints) -> Ints:
    """How many elements the subsets given by bit masks have.

    >>> subset_sizes(np.array([0b1, 0b11, 0b101])).tolist()
    [1, 2, 2]
    """
    sizes = np.zeros_like(masks)
    for bit in range(int(masks.max(initial=0)).bit_length()):
        sizes += (masks >> bit) & 1
    return sizes


def sign(masks: Ints) -> Ints:
    """(-1)^(|T| + 1) of the subsets given by bit masks.

    >>> sign(np.array([0b1, 0b11, 0b111])).tolist()
    [1, -1, 1]
    """
    return 2 * (subset_sizes(masks) & 1) - 1


@dataclass(frozen=True)
class Group:
    """Element sets of one size: their rows and, for each bit mask, the index of that subset.

    ``subsets[r, mask]`` is -1 where the table does not hold the subset.
    """

    size: int
    rows: Ints
    subsets: Ints

    def pairs(self) -> tuple[Ints, Ints, Ints]:
        """(row, subset, mask) of every subset that is in the table."""
        index, mask = np.nonzero(self.subsets >= 0)
        return self.rows[index], self.subsets[index, mask], mask


@dataclass
class SubsetTable:
    """Indices of subsets of elements; level s holds the sorted codes of those of size s + 1.

    >>> table, groups = SubsetTable.build(Incidence.of([["a", "b"], ["a"], ["b", "a"]]))
    >>> table.support.tolist(), groups[1].subsets.tolist()
    ([3, 2, 2], [[-1, 0, 1, 2], [-1, 0, 1, 2]])
    """

    elements: int
    levels: list[Ints] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    support: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def build(
        cls, sets: Incidence, weights: Ints | None = None, least: int = 1
    ) -> tuple[SubsetTable, list[Group]]:
        """Index all subsets of ``sets`` that occur at least ``least`` times (by ``weights``)."""
        table = cls(max(len(sets.keys), 1))
        weights = np.ones(len(sets), dtype=np.int64) if weights is None else weights
        groups = _by_size(sets)
        for size in range(1, max((group.size for group in groups), default=0) + 1):
            asked = [_codes(group, sets, size, table.elements) for group in groups]
            codes = np.concatenate([code.ravel() for code in asked])
            each = np.concatenate(
                [
                    np.broadcast_to(weights[group.rows, None], code.shape).ravel()
                    for group, code in zip(groups, asked, strict=True)
                ]
            )
            known, index = np.unique(codes[codes >= 0], return_inverse=True)
            support = np.bincount(index, weights=each[codes >= 0], minlength=len(known))
            table._append(known[support >= least], support[support >= least].astype(np.int64))
            for group, code in zip(groups, asked, strict=True):
                group.subsets[:, _masks_of(group.size, size)] = table._find(code, size)
        return table, groups

    def find(self, sets: Incidence) -> list[Group]:
        """The indices of all subsets of each of ``sets``, -1 where unknown."""
        groups = _by_size(sets)
        for size in range(1, max((group.size for group in groups), default=0) + 1):
            for group in groups:
                if size <= group.size:
                    code = _codes(group, sets, size, self.elements)
                    group.subsets[:, _masks_of(group.size, size)] = self._find(code, size)
        return groups

    def _append(self, codes: Ints, support: Ints) -> None:
        self.starts.append(len(self.support))
        self.levels.append(codes)
        self.support = np.concatenate([self.support, support])

    def _find(self, codes: Ints, size: int) -> Ints:
        if size > len(self.levels) or len(self.levels[size - 1]) == 0:
            return np.full(codes.shape, -1, dtype=np.int64)
        level = self.levels[size - 1]
        index = np.minimum(np.searchsorted(level, codes), len(level) - 1)
        return np.where(level[index] == codes, self.starts[size - 1] + index, -1)


def _by_size(sets: Incidence) -> list[Group]:
    """Empty groups for the element sets of each size from 1 on."""
    degrees = sets.degrees
    groups = []
    for size in np.unique(degrees[degrees > 0]).tolist():
        rows = np.flatnonzero(degrees == size)
        groups.append(Group(size, rows, np.full((len(rows), 1 << size), -1, dtype=np.int64)))
    return groups


@cache
def _masks_of(size: int, count: int) -> Ints:
    """Masks over ``size`` elements with ``count`` bits."""
    every = np.arange(1 << size, dtype=np.int64)
    chosen: Ints = every[subset_sizes(every) == count]
    chosen.flags.writeable = False
    return chosen


def _codes(group: Group, sets: Incidence, count: int, elements: int) -> Ints:
    """Parent index * elements + last element of subsets of ``count`` elements; -1: no parent."""
    wanted = _masks_of(group.size, count)
    top = np.floor(np.log2(wanted)).astype(np.int64)
    last: Ints = sets.elements[sets.pointers[group.rows][:, None] + top[None, :]]
    if count == 1:
        return last
    parent = group.subsets[:, wanted - (1 << top)]
    return np.where(parent >= 0, parent * elements + last, -1)
