"""Messages with the same elements have the same neighbours: group them, and drop idle elements."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse

from eventide.graphs.incidence import Incidence, Ints, offsets

Flags = npt.NDArray[np.bool_]
# beyond this many co-occurrences the search for dominated elements costs more than it saves
DOMINATED_LIMIT = 200_000_000


def keep_elements(incidence: Incidence, keep: Flags, by_row: bool = False) -> Incidence:
    """Drop incidences of elements (or, ``by_row``, of messages) where ``keep`` is False.

    Numbers and keys stay.

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

    An element that one message has links nobody. Element a is idle if every message with a also
    has b: whoever meets through a meets through b. Exact, and it spares most subsets.

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
    """Which elements occur only together with some other one (of equals, the first is kept)."""
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
    """Number the distinct element sets; return each message's number and one row for each set.

    Exact: sets are compared element by element, never by a hash.

    >>> profile, sets = profiles(Incidence.of([["b", "a"], [], ["a", "b"]]))
    >>> profile.tolist(), sets.degrees.tolist()
    ([1, 0, 1], [0, 2])
    """
    degrees = incidence.degrees
    width = max(len(incidence.keys), 1)
    prefix = np.zeros(len(incidence), dtype=np.int64)
    active = np.flatnonzero(degrees)
    for place in range(int(degrees.max(initial=0))):
        active = active[degrees[active] > place]
        codes = prefix[active] * width + incidence.elements[incidence.pointers[active] + place]
        prefix[active] = np.unique(codes, return_inverse=True)[1]
    # the number of a prefix is unique among sets of one size only
    codes = degrees * (len(incidence) + 1) + prefix
    _, first, profile = np.unique(codes, return_index=True, return_inverse=True)
    return profile.astype(np.int64), incidence.take(first)
