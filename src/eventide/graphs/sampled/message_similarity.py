"""Similarity of two messages: by the elements they share, and by their vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse

from eventide.arrays import unit_rows
from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.keys import KeyIndex

Floats = npt.NDArray[np.float32]
CHUNK = 1 << 16
"""Pairs whose vectors are gathered at once."""


def shared_share(left: Incidence, rows: Ints, right: Incidence, columns: Ints) -> Floats:
    """2 * M_ij / (M_ii + M_jj) of pairs: message i in ``rows`` of ``left``, j in ``columns``.

    M_ij counts the elements that i and j share, so M_ii those that i has. 0 where neither has any.
    ``columns`` [pairs] are messages of ``right``.

    >>> one, two = Incidence.of([["a", "b"]]), Incidence.of([["b"], ["c"]])
    >>> shared_share(one, np.array([0, 0]), two, np.array([0, 1])).tolist()
    [0.6666666865348816, 0.0]
    """
    index = KeyIndex(right.keys).find(left.keys)
    known = index[left.elements] >= 0
    ours = _matrix(left.rows[known], index[left.elements[known]], len(left), len(right.keys))
    theirs = _matrix(right.rows, right.elements, len(right), len(right.keys))
    shared = np.asarray(ours[rows].multiply(theirs[columns]).sum(axis=1)).ravel()
    both = left.degrees[rows] + right.degrees[columns]
    share: Floats = (2 * shared / np.maximum(both, 1)).astype(np.float32)
    return share


def pair_cosines(left: Floats, rows: Ints, right: Floats, columns: Ints) -> Floats:
    """Cosine of the vectors of each pair; 0 with a zero vector.

    >>> vectors = np.array([[3, 4], [0, 2], [0, 0]], dtype=np.float32)
    >>> pair_cosines(vectors, np.array([0, 0]), vectors, np.array([1, 2])).tolist()
    [0.800000011920929, 0.0]
    """
    ours, theirs = unit_rows(left), unit_rows(right)
    cosines = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), CHUNK):
        some = slice(start, start + CHUNK)
        np.einsum("nd,nd->n", ours[rows[some]], theirs[columns[some]], out=cosines[some])
    return cosines


def _matrix(rows: Ints, elements: Ints, count: int, width: int) -> scipy.sparse.csr_array:
    ones = np.ones(len(rows), dtype=np.int64)
    return scipy.sparse.csr_array((ones, (rows, elements)), shape=(count, width))
