"""How much beliefs contradict each other, for many messages at a time.

`Opinion.dissonance` is the same number, class by class and with gradients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eventide.opinions.opinion import NOTHING

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-14
"""Beliefs of a message that together are below this are left out: they move its sum less."""
AT_ONCE = 512
"""Messages that are worked on at a time, so that their arrays stay in the processor's cache."""


def dissonance_of(belief: Floats) -> Floats:
    """Return sum_c b_c * (sum_{j != c} b_j * balance(b_j, b_c)) / sum_{j != c} b_j of [n, C].

    balance(a, b) = 1 - abs(a - b) / (a + b). A pair i, j appears twice, as rival of each other:
    2 b_i b_j min(b_i, b_j) / (b_i + b_j) * (1 / R_i + 1 / R_j), with R the sum of the others.
    Sorted, a message needs its few largest beliefs alone; the work is half their number squared.

    >>> dissonance_of(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    found = np.zeros(len(belief))
    ordered = -np.sort(-belief.astype(np.float64), axis=1)
    after = np.cumsum(ordered[:, ::-1], axis=1)[:, ::-1]  # the belief and all smaller ones
    needed = np.maximum((after > NEGLIGIBLE).sum(axis=1), 1)
    by_width = np.argsort(needed, kind="stable")
    for start in range(0, len(belief), AT_ONCE):
        rows = by_width[start : start + AT_ONCE]
        found[rows] = _pairs(ordered[rows, : needed[rows[-1]]])
    return found


def _pairs(ordered: Floats) -> Floats:
    """Sum over pairs of beliefs [m, K] that fall from left to right."""
    rivals = np.zeros_like(ordered)
    rivals[:, 1:] += np.cumsum(ordered[:, :-1], axis=1)
    rivals[:, :-1] += np.cumsum(ordered[:, :0:-1], axis=1)[:, ::-1]
    weight = np.where(rivals < NOTHING, 0.0, 1 / np.maximum(rivals, NOTHING))
    total = np.zeros(len(ordered))
    for apart in range(1, ordered.shape[1]):
        large, small = ordered[:, :-apart], ordered[:, apart:]
        share = small / np.maximum(large + small, NOTHING)
        both = weight[:, :-apart] + weight[:, apart:]
        total += 2 * (large * small * share * both).sum(axis=1)
    return total
