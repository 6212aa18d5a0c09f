"""A logarithmic opinion pool: experts score every class; their weights are learned by likelihood.

The probability of class c is softmax over c of sum over experts k of w_k * score[c, k], w_k >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from eventide.opinions.calibration import FOLDS, folds_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEWEST = 10
"""Messages below which the first expert speaks alone."""
PULL = 1.0
"""How strongly weights are held where only the first expert speaks; one message weighs about 1."""
ROUNDS = 100


@dataclass(frozen=True, eq=False)
class LogarithmicPool:
    """Weights of the experts [K], none negative.

    >>> pool = LogarithmicPool(np.array([1.0, 0.0]))
    >>> pool.apply(np.array([[[0.0, 5.0], [0.0, -5.0]]])).tolist()
    [[0.5, 0.5]]
    """

    weights: Floats

    @classmethod
    def fit(cls, scores: NDArray[np.floating], labels: Ints) -> Self | None:
        """Fit on scores [n, C, K] of messages and their classes; None where they are too few.

        A class that there was not when a message came has no finite scores.
        """
        from scipy.optimize import minimize

        if len(labels) < FEWEST:
            return None
        there = np.isfinite(scores).all(axis=2)
        known = np.where(there[:, :, None], scores, 0.0).astype(np.float64)
        own = known[np.arange(len(labels)), labels]
        start = np.zeros(known.shape[2])
        start[0] = 1.0

        def cost(weights: Floats) -> tuple[float, Floats]:
            logits = np.where(there, known @ weights, -np.inf)
            highest = logits.max(axis=1, keepdims=True)
            powers = np.exp(logits - highest)
            total = powers.sum(axis=1, keepdims=True)
            expected = np.einsum("nc,nck->nk", powers / total, known)
            spread = np.log(total[:, 0]) + highest[:, 0] - own @ weights
            pulled = weights - start
            value = spread.sum() + PULL / 2 * (pulled**2).sum()
            return float(value), (expected - own).sum(axis=0) + PULL * pulled

        bounds = [(0.0, None)] * len(start)
        options = {"maxiter": ROUNDS}
        found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return cls(np.asarray(found.x, dtype=np.float64))

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


def cross_pooled(scores: NDArray[np.floating], labels: Ints) -> Floats | None:
    """Pool each message's scores [n, C, K] by weights that were fitted on other folds.

    None where the messages are too few for that.
    """
    if not can_cross_pool(len(labels)):
        return None
    folds = folds_of(labels)
    pools = [
        LogarithmicPool.fit(scores[folds != each], labels[folds != each]) for each in range(FOLDS)
    ]
    probability = np.empty(scores.shape[:2])
    for each, pool in enumerate(pools):
        assert pool is not None  # every fold leaves enough of the others
        probability[folds == each] = pool.apply(scores[folds == each])
    return probability
