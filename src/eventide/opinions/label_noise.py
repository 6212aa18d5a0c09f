"""Wrong labels: a share of them, each of which names any other class alike.

A label that a person gave in haste is not an error of the model. Whoever learns from labels how
far to trust a model, and knows that some are wrong, need not doubt the model as often as that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelNoise:
    """The ``share`` of labels that are wrong, of ``classes`` classes.

    >>> LabelNoise(0.1, classes=3).likelihood(np.log(np.array([1.0, 0.5]))).round(3).tolist()
    [0.9, 0.475]
    >>> LabelNoise(0.1, classes=3).suspect(np.log(np.array([0.9, 0.01]))).tolist()
    [False, True]
    """

    share: float
    classes: int

    def likelihood(self, own: Floats) -> Floats:
        """Return the probability of each label [n], given the log probability of its class."""
        found: Floats = np.exp(self.log_likelihood(own))
        return found

    def log_likelihood(self, own: Floats) -> Floats:
        """Return its logarithm: log((1 - share) p + share (1 - p) / (C - 1))."""
        right, wrong = self._parts(own)
        found: Floats = np.logaddexp(right, wrong)
        return found

    def slopes(self, own: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of ``log_likelihood`` over ``own`` and over the share, each [n]."""
        others, value = max(1, self.classes - 1), self.log_likelihood(own)
        relative = np.exp(own - value)
        over_own = (1 - self.share * (1 + 1 / others)) * relative
        over_share = (np.exp(-value) - relative) / others - relative
        return over_own, over_share

    def suspect(self, own: Floats) -> Bools:
        """Say which labels [n] are more likely wrong than right."""
        right, wrong = self._parts(own)
        found: Bools = wrong > right
        return found

    def _parts(self, own: Floats) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore"):
            right = np.log1p(-self.share) + own
            missed = np.log(-np.expm1(np.minimum(own, 0.0)))
            wrong = np.log(self.share) + missed - np.log(max(1, self.classes - 1))
        return right, wrong
