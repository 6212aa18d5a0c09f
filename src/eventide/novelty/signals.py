"""Signals that a message is about no known event, all from what a model has anyway.

Every signal grows with novelty. Each can be computed as if some classes did not exist, so that the
messages of a known event show what those of a new one would look like.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eventide.methods.method import Prediction
from eventide.novelty.reference import NEAREST, Comparison

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LEAST = 1e-30


@dataclass(frozen=True)
class MessageEvidence:
    """What signals read of n messages: the prediction, the comparison and the probe's logits.

    ``pooled`` [n, C] are the logits of a pool of experts, where the model has one.
    """

    prediction: Prediction
    comparison: Comparison
    logits: Floats
    pooled: Floats | None = None

    def __len__(self) -> int:
        return len(self.prediction.predicted)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.prediction.probability.shape[1])


def vacuity(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return log(vacuity): how little evidence there is for any shown class.

    Without the hidden classes' evidence the strength of a Dirichlet falls by their probability.
    """
    kept = evidence.prediction.probability[:, shown].sum(axis=1)
    share = shown.sum() / len(shown)
    left = share * evidence.prediction.uncertainty / np.maximum(kept, LEAST)
    return np.asarray(np.log(np.clip(left, LEAST, 1.0)))


def entropy(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return the entropy of the probabilities of the shown classes."""
    return _entropy(_normalised(evidence.prediction.probability[:, shown]))


def probe_entropy(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return the entropy of logistic regression on the text vectors."""
    logits = evidence.logits[:, shown]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return _entropy(_normalised(powers))


def nearest_distance(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return 1 - mean cosine of the nearest labelled messages."""
    cosines = evidence.comparison.nearest[:, shown].reshape(len(evidence), shown.sum() * NEAREST)
    top = -np.sort(-cosines, axis=1)[:, :NEAREST].astype(np.float64)
    there = top > -1
    return np.asarray(1 - (top * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1))


def centroid_distance(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return 1 - cosine with the nearest class centroid."""
    return np.asarray(1 - evidence.comparison.centroid[:, shown].max(axis=1))


def unknown_elements(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return the share of elements that no labelled message of the shown classes has.

    One more element is counted than there is: a message with few says little.
    """
    found = evidence.comparison
    # An element of two hidden classes counts as known: a group of them rarely shares any.
    unknown = found.unknown + found.own[:, ~shown].sum(axis=1)
    return np.asarray(unknown / (found.elements + 1))


def pool_entropy(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return the entropy of the pool of experts, as a share of the largest; 0 without a pool."""
    if evidence.pooled is None:
        return np.zeros(len(evidence))
    return pool_signals(evidence.pooled[:, shown])[:, 0]


def pool_misfit(evidence: MessageEvidence, shown: Bools) -> Floats:
    """Return how little the best event of the pool fits; 0 without a pool."""
    if evidence.pooled is None:
        return np.zeros(len(evidence))
    return pool_signals(evidence.pooled[:, shown])[:, 1]


def pool_signals(logits: Floats) -> Floats:
    """Return share of the largest entropy and misfit [n, 2] of logits [n, C].

    A class that there was not has the logit minus infinity.

    >>> (pool_signals(np.array([[2.0, 2.0], [3.0, -np.inf]])).round(2) + 0.0).tolist()
    [[1.0, -2.0], [0.0, -3.0]]
    """
    highest = logits.max(axis=1, keepdims=True)
    entropy = _entropy(_normalised(np.exp(logits - highest)))
    classes = np.maximum(np.isfinite(logits).sum(axis=1), 2)
    return np.stack([entropy / np.log(classes), -highest[:, 0]], axis=1)


SIGNALS: dict[str, Callable[[MessageEvidence, Bools], Floats]] = {
    "vacuity": vacuity,
    "entropy": entropy,
    "probe": probe_entropy,
    "nearest": nearest_distance,
    "centroid": centroid_distance,
    "elements": unknown_elements,
    "pool": pool_entropy,
    "misfit": pool_misfit,
}
FITTED = 6
"""The first signals, which a model has before its stream has begun."""


def signal_table(evidence: MessageEvidence, shown: Bools | None = None) -> Floats:
    """Return the signals of n messages [n, signals], with only the ``shown`` classes [C]."""
    if shown is None:
        shown = np.ones(evidence.classes, dtype=bool)
    return np.stack([signal(evidence, shown) for signal in SIGNALS.values()], axis=1)


def _normalised(values: Floats) -> Floats:
    total = values.sum(axis=1, keepdims=True)
    return np.asarray(
        np.where(total > 0, values / np.where(total > 0, total, 1), 1 / values.shape[1])
    )


def _entropy(probability: Floats) -> Floats:
    return np.asarray(-(probability * np.log(np.clip(probability, LEAST, 1))).sum(axis=1))
