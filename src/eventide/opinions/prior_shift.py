"""How often events really occur, where the labels do not say it.

Whoever labels ten messages of every event makes all of them look equally common. The messages
without a label tell more: the share of each event among them is estimated by expectation
maximisation (Saerens, Latinne and Decaestecker 2002), and probabilities follow it by Bayes' rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS, SETTLED = 500, 1e-9
"""Rounds of expectation and maximisation at most, and the change of a share that ends them."""


def estimated_shares(probability: Floats, labelled: Floats) -> Floats:
    """Estimate the share [C] of each class among messages with these probabilities [n, C].

    ``labelled`` [C] are the shares among the labels learned from. They count as much as one message
    per class, so that few messages change little.

    >>> said = np.array([[0.9, 0.1]] * 800 + [[0.1, 0.9]] * 200)
    >>> estimated_shares(said, np.array([0.5, 0.5])).round(3).tolist()
    [0.873, 0.127]
    """
    classes = len(labelled)
    shares = labelled
    for _ in range(ROUNDS):
        expected = shifted(probability, log_shift(shares, labelled)).sum(axis=0)
        found = (expected + classes * labelled) / (len(probability) + classes)
        change = np.abs(found - shares).max()
        shares = found
        if change < SETTLED:
            break
    return shares


def log_shift(shares: Floats, labelled: Floats) -> Floats:
    """Return what the shares add to log probabilities [C]; 0 for a class without a label."""
    there = labelled > 0
    shift = np.zeros(len(labelled))
    shift[there] = np.log(shares[there]) - np.log(labelled[there])
    return shift


def shifted(probability: Floats, shift: Floats) -> Floats:
    """Return probabilities [n, C] with ``shift`` [C] added to their logarithms.

    >>> shifted(np.array([[0.5, 0.5]]), np.log([0.9, 0.1])).round(2).tolist()
    [[0.9, 0.1]]
    """
    weighed: Floats = probability * np.exp(shift - shift.max())
    total = weighed.sum(axis=1, keepdims=True)
    found: Floats = np.divide(weighed, total, out=probability.copy(), where=total > 0)
    return found
