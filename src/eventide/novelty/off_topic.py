"""Messages that a person dismissed as off-topic: what is like them is no longer called new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from eventide.arrays import unit_rows

Vectors = NDArray[np.float32]
NEAREST = 3
"""Nearest messages that are compared, on both sides."""
LEAST = 0.25
"""Share of the dismissed messages that are less like the others than a message must be."""
MOST = 5_000
"""Dismissed messages that are kept, the latest."""
SAME = 1 - 1e-5
"""Cosine from which two messages are taken for one."""


@dataclass(frozen=True, eq=False)
class OffTopic:
    """Unit vectors of dismissed messages, and how like them a message must be.

    >>> dismissed = OffTopic.of(np.eye(4, dtype=np.float32)[[0, 0, 0, 0]])
    >>> dismissed.like(np.eye(4, dtype=np.float32)[:2], np.array([0.2, 0.2])).tolist()
    [True, False]
    """

    vectors: Vectors
    least: float

    @classmethod
    def of(cls, features: Vectors) -> Self:
        """Learn from the vectors of dismissed messages [n, width]."""
        vectors = unit_rows(np.asarray(features, dtype=np.float32))[-MOST:]
        if len(vectors) < 2:
            return cls(vectors, 0.9)
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -1)
        return cls(vectors, float(np.quantile(nearest_mean(cosines), LEAST)))

    def joined(self, features: Vectors) -> OffTopic:
        """Learn from more dismissed messages; those that it knows already change nothing."""
        more = unit_rows(np.asarray(features, dtype=np.float32))
        # Twice the same would make messages look more like each other than they are.
        fresh = (more @ self.vectors.T).max(axis=1, initial=-1) < SAME
        return OffTopic.of(np.concatenate([self.vectors, more[fresh]])) if fresh.any() else self

    def like(self, features: Vectors, known: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Say which messages [n, width] are like dismissed ones.

        That is, as near to them as most of them are to each other, and nearer than to labelled
        messages: ``known`` [n] is the mean cosine with the nearest of these.
        """
        found = nearest_mean(unit_rows(np.asarray(features, dtype=np.float32)) @ self.vectors.T)
        return np.asarray((found >= self.least - 1e-6) & (found > known))


def nearest_mean(cosines: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the mean of each row's largest cosines [n].

    >>> nearest_mean(np.array([[0.1, 0.9, 0.8, 0.7]])).round(2).tolist()
    [0.8]
    """
    count = min(NEAREST, cosines.shape[1])
    top = -np.partition(-cosines, count - 1, axis=1)[:, :count]
    return np.asarray(top.mean(axis=1), dtype=np.float64)
