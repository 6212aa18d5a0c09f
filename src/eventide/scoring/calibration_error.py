"""Do probabilities mean what they say? Proper scores and the calibration error."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Reliability:
    """Messages in bins of equal width by what was said of them, the empty bins left out.

    ``said`` is the mean probability of each bin, ``happened`` the share for which it came true,
    ``messages`` their number.
    """

    said: Floats
    happened: Floats
    messages: Ints


def reliability(confidence: Floats, right: NDArray[np.bool_], bins: int = BINS) -> Reliability:
    """Compare what was said with what happened, by bins (0, 1/bins], (1/bins, 2/bins], ...

    >>> curve = reliability(np.array([0.95, 0.97, 0.5]), np.array([True, False, True]))
    >>> curve.said.round(2).tolist(), curve.happened.tolist(), curve.messages.tolist()
    ([0.5, 0.96], [1.0, 0.5], [1, 2])
    """
    index = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    counts = np.bincount(index, minlength=bins)
    full = counts > 0
    sums = np.bincount(index, weights=confidence, minlength=bins)[full]
    rights = np.bincount(index, weights=right.astype(np.float64), minlength=bins)[full]
    return Reliability(sums / counts[full], rights / counts[full], counts[full])


def expected_calibration_error(
    confidence: Floats, right: NDArray[np.bool_], bins: int = BINS
) -> float:
    """Mean distance between confidence and accuracy over bins of equal width, by their messages.

    >>> expected_calibration_error(np.array([0.9, 0.9]), np.array([True, False]))
    0.4
    """
    if not len(confidence):
        return 0.0
    curve = reliability(confidence, right, bins)
    return float(np.average(np.abs(curve.said - curve.happened), weights=curve.messages))


def classwise_calibration_error(truth: Ints, probability: Floats, bins: int = BINS) -> float:
    """ECE of each class's probability [n, C] against whether it is the true one, averaged.

    Overall, too much said of one class can make up for too little said of another; here not.

    >>> round(classwise_calibration_error(np.array([0, 1]), np.full((2, 2), 0.5)), 4)
    0.0
    """
    each = [
        expected_calibration_error(probability[:, one], truth == one, bins)
        for one in range(probability.shape[1])
    ]
    return float(np.mean(each))


def brier_score(truth: Ints, probability: Floats) -> float:
    """Mean squared distance of the probabilities [n, C] from the truth, summed over classes: 0..2.

    An event that is not among the classes (C or more) had probability 0.

    >>> brier_score(np.array([0]), np.array([[0.5, 0.5]]))
    0.5
    """
    own = np.zeros(len(truth))
    known = truth < probability.shape[1]
    own[known] = probability[known, truth[known]]
    return float(((probability**2).sum(axis=1) - 2 * own + 1).mean()) if len(truth) else 0.0


def mean_nll(truth: Ints, probability: Floats) -> float:
    """Mean of -log p(true class) over the messages [n]; ``probability`` [n, C].

    >>> round(mean_nll(np.array([0, 1]), np.full((2, 2), 0.5)), 4)
    0.6931
    """
    own = probability[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(own, SMALLEST)).mean()) if len(truth) else 0.0


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
