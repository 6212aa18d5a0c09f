"""Rare elements: few messages share them, so an edge costs less than a key and its subsets."""

from __future__ import annotations

import numpy as np

from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.profiles import Flags, element_matrix, keep_elements

RARE = 12  # an element of at most so many messages is read message by message


def rare_pairs(sets: Incidence, often: Flags, wide: Ints) -> tuple[Ints, Ints]:
    """(p, q), p != q, that share a rare element and no element where ``often``; none ``wide``.

    >>> sets = Incidence.of([["hot", "a"], ["a"], ["hot", "a", "b"], ["b"]])
    >>> often = np.array([True, False, False])
    >>> rare_pairs(sets, often, np.zeros(0, dtype=np.int64))
    (array([0, 1, 1, 2, 2, 3]), array([1, 0, 2, 1, 3, 2]))
    """
    narrow = np.ones(len(sets), dtype=bool)
    narrow[wide] = False
    rare = element_matrix(keep_elements(keep_elements(sets, ~often), narrow, by_row=True))
    shared = (rare @ rare.T).tocoo()
    left, right = shared.row.astype(np.int64), shared.col.astype(np.int64)
    other = left != right
    left, right = left[other], right[other]
    popular = element_matrix(keep_elements(sets, often))
    met = np.asarray((popular[left] * popular[right]).sum(axis=1)).ravel() > 0
    left, right = left[~met], right[~met]
    order = np.lexsort((right, left))
    return left[order], right[order]
