"""Token counts, means over tokens, and truncated SVD: from tokens to message vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from eventide.features.encoders.text_encoder import Vectors


def count_matrix(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """Count how often each column occurs in each row; a column of -1 (unknown) is left out."""
    known = columns >= 0
    ones = np.ones(int(known.sum()), dtype=np.float32)
    counts = sparse.csr_array((ones, (rows[known], columns[known])), shape=shape)
    counts.sum_duplicates()  # sorted columns: a row's sum has one order, whatever the batch
    return counts


def row_means(counts: sparse.csr_array, table: Vectors) -> Vectors:
    """Return the mean of the table's vectors under each row's counts; an empty row is zero."""
    totals = np.maximum(counts.sum(axis=1), 1).astype(np.float32)
    return np.asarray((counts @ table) / totals[:, None], dtype=np.float32)


def truncated_svd(matrix: sparse.csr_array, width: int) -> tuple[Vectors, Vectors]:
    """Return the largest singular values ``[k]`` and their right vectors ``[columns, k]``.

    ``k`` is ``width`` or the matrix's rank if that is less. The sign of a vector is such that its
    entry of largest size is positive.
    """
    from sklearn.utils.extmath import randomized_svd

    _, values, right = randomized_svd(
        matrix, min(width, *matrix.shape), n_oversamples=20, n_iter=4, random_state=0
    )
    useful = values > values[0] * 1e-5
    values, right = values[useful], right[useful]
    largest = np.take_along_axis(right, np.abs(right).argmax(axis=1, keepdims=True), axis=1)
    directions = np.ascontiguousarray((right * np.sign(largest)).T, dtype=np.float32)
    return values.astype(np.float32), directions
