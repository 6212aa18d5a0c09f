"""Do probabilities mean what they say? Proper scores and the calibration error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BINS = 15
SMALLEST = 1e-12
"""A probability of 0 would cost infinitely much; nobody's is counted as smaller than this."""


def class_averaged_nll(truth: Ints, probability: Floats) -> float:
    """Mean of -log p(true class) within each class, then over the classes that occur.

    A proper score in which a rare class counts as much as a frequent one. ``truth`` [n],
    ``probability`` [n, C].

    >>> even = np.full((3, 2), 0.5)
    >>> round(class_averaged_nll(np.array([0, 0, 1]), even), 4)
    0.6931
    """
    own = probability[np.arange(len(truth)), truth]
    cost = -np.log(np.maximum(own, SMALLEST))
    counts = np.bincount(truth, minlength=probability.shape[1])
    totals = np.bincount(truth, weights=cost, minlength=probability.shape[1])
    present = counts > 0
    return float((totals[present] / counts[present]).mean())


def expected_calibration_error(
    confidence: Floats, right: NDArray[np.bool_], bins: int = BINS
) -> float:
    """Mean distance between confidence and accuracy over bins of equal width, by their messages.

    >>> expected_calibration_error(np.array([0.9, 0.9]), np.array([True, False]))
    0.4
    """
    if not len(confidence):
        return 0.0
    index = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    sums = np.bincount(index, weights=confidence, minlength=bins)
    rights = np.bincount(index, weights=right.astype(np.float64), minlength=bins)
    return float(np.abs(sums - rights).sum() / len(confidence))


def doubt_of(probability: Floats, assigned: Ints) -> Floats:
    """1 - probability of the assigned class [n], added up from the other classes.

    So it stays a number that ranks where the probability rounds to 1.

    >>> doubt_of(np.array([[1.0, 1e-20]]), np.array([0])).tolist()
    [1e-20]
    """
    others = probability.copy()
    others[np.arange(len(assigned)), assigned] = 0.0
    found: NDArray[Any] = others.sum(axis=1)
    return found
