"""A logarithmic opinion pool: experts score every class; their weights are learned by likelihood.

The probability of class c is softmax over c of sum over experts k of w_k * score[c, k], w_k >= 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from eventide.opinions.calibration import FOLDS, folds_of
from eventide.opinions.label_noise import LabelNoise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEWEST = 10
"""Messages below which the first expert speaks alone."""
PULL = 1.0
"""How strongly weights are held where only the first expert speaks; one message weighs about 1."""
ROUNDS = 100
EXPECTED_NOISE, MOST_NOISE = 0.05, 0.5
"""The share of wrong labels that the search begins at, and the largest that it may find."""
CHANCE = 4.0
"""One more free number gains less than this, twice the log likelihood, in 97 of 100 fits."""


@dataclass(frozen=True, eq=False)
class LogarithmicPool:
    """Weights of the experts [K], none negative, and the share of wrong labels they were fitted on.

    >>> pool = LogarithmicPool(np.array([1.0, 0.0]))
    >>> pool.apply(np.array([[[0.0, 5.0], [0.0, -5.0]]])).tolist()
    [[0.5, 0.5]]
    """

    weights: Floats
    wrong_labels: float = 0.0

    @classmethod
    def fit(
        cls, scores: NDArray[np.floating], labels: Ints, wrong_labels: float = 0.0
    ) -> Self | None:
        """Fit on scores [n, C, K] of messages and their classes; None where they are too few.

        A class that there was not when a message came has no finite scores. Of the labels a share
        is known to be wrong.
        """
        if len(labels) < FEWEST:
            return None
        return cls(_Likelihood(scores, labels).best(wrong_labels)[0], wrong_labels)

    @classmethod
    def fit_in_doubt(cls, scores: NDArray[np.floating], labels: Ints) -> Self | None:
        """Fit on labels of which some may be wrong; their share is fitted too.

        They are all taken for right, unless more than chance speaks against it.
        """
        if len(labels) < FEWEST:
            return None
        likelihood = _Likelihood(scores, labels)
        plain, cost_of_plain = likelihood.best(0.0)
        weights, share, cost = likelihood.best_with_share(plain)
        return cls(weights, share) if 2 * (cost_of_plain - cost) > CHANCE else cls(plain)

    def logits(self, scores: NDArray[np.floating]) -> Floats:
        """Return the weighted sums [n, C] of scores [n, C, K]."""
        return np.asarray(scores.astype(np.float64) @ self.weights)

    def apply(self, scores: NDArray[np.floating]) -> Floats:
        """Return probabilities [n, C] from scores [n, C, K]."""
        return softmax(self.logits(scores))


def softmax(logits: Floats) -> Floats:
    """Return probabilities [n, C] of logits [n, C]."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def can_cross_pool(messages: int) -> bool:
    """Say whether four fifths of so many messages are enough for a pool.

    >>> can_cross_pool(12), can_cross_pool(13)
    (False, True)
    """
    return messages - -(-messages // FOLDS) >= FEWEST


def cross_pooled(
    scores: NDArray[np.floating], labels: Ints, wrong_labels: float = 0.0
) -> Floats | None:
    """Pool each message's scores [n, C, K] by weights that were fitted on other folds.

    None where the messages are too few for that.
    """
    if not can_cross_pool(len(labels)):
        return None
    folds = folds_of(labels)
    pools = [
        LogarithmicPool.fit(scores[folds != each], labels[folds != each], wrong_labels)
        for each in range(FOLDS)
    ]
    probability = np.empty(scores.shape[:2])
    for each, pool in enumerate(pools):
        assert pool is not None  # every fold leaves enough of the others
        probability[folds == each] = pool.apply(scores[folds == each])
    return probability


class _Likelihood:
    """What weights cost: the negative log likelihood of the labels, and the pull to the first."""

    def __init__(self, scores: NDArray[np.floating], labels: Ints) -> None:
        self._there = np.isfinite(scores).all(axis=2)
        self._known = np.where(self._there[:, :, None], scores, 0.0).astype(np.float64)
        self._own = self._known[np.arange(len(labels)), labels]
        self._start = np.eye(1, scores.shape[2])[0]

    def best(self, share: float) -> tuple[Floats, float]:
        """Return the weights that cost least with a given share of wrong labels, and their cost."""

        def cost(weights: Floats) -> tuple[float, Floats]:
            value, slope, _ = self._cost(weights, share)
            return value, slope

        return _least(cost, self._start, [(0.0, None)] * len(self._start))

    def best_with_share(self, weights: Floats) -> tuple[Floats, float, float]:
        """Search weights and share, from these weights: return both and what they cost."""

        def cost(both: Floats) -> tuple[float, Floats]:
            value, slope, over_share = self._cost(both[:-1], float(both[-1]))
            return value, np.append(slope, over_share)

        bounds = [*([(0.0, None)] * len(weights)), (0.0, MOST_NOISE)]
        found, value = _least(cost, np.append(weights, EXPECTED_NOISE), bounds)
        return found[:-1], float(found[-1]), value

    def _cost(self, weights: Floats, share: float) -> tuple[float, Floats, float]:
        """Return the cost, and its slopes over the weights [K] and over the share."""
        logits = np.where(self._there, self._known @ weights, -np.inf)
        highest = logits.max(axis=1, keepdims=True)
        powers = np.exp(logits - highest)
        total = powers.sum(axis=1, keepdims=True)
        expected = np.einsum("nc,nck->nk", powers / total, self._known)
        own = self._own @ weights - np.log(total[:, 0]) - highest[:, 0]
        noise = LabelNoise(share, logits.shape[1])
        over_own, over_share = noise.slopes(own)
        pulled = weights - self._start
        value = PULL / 2 * (pulled**2).sum() - noise.log_likelihood(own).sum()
        slope = over_own @ (expected - self._own) + PULL * pulled
        return float(value), slope, -float(over_share.sum())


def _least(
    cost: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: Sequence[tuple[float, float | None]],
) -> tuple[Floats, float]:
    from scipy.optimize import minimize

    options = {"maxiter": ROUNDS}
    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x, dtype=np.float64), float(found.fun)
