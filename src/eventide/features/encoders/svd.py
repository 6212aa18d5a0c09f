"""Truncated singular value decomposition with one answer: fixed start, fixed signs."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eventide.features.encoders.base import Vectors


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
