"""Wide element sets: too many subsets to be keys, so their neighbours are written out."""

from __future__ import annotations

import numpy as np

from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.profiles import element_matrix


def near_wide(sets: Incidence, wide: Ints) -> tuple[Ints, Ints]:
    """(w, p) where the w-th of the ``wide`` sets and set p share an element, itself included.

    >>> near_wide(Incidence.of([["a", "b"], ["b"], ["c"]]), np.array([0]))
    (array([0, 0]), array([0, 1]))
    """
    if len(wide) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    shared = element_matrix(sets.take(wide)) @ element_matrix(sets).T
    shared.sort_indices()
    centers = np.repeat(np.arange(len(wide), dtype=np.int64), np.diff(shared.indptr))
    return centers, shared.indices.astype(np.int64)
