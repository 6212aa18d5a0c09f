"""Mini-batches: every training message once per epoch, in an order the seed decides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def shuffled_batches(
    rows: NDArray[np.int64], size: int, seed: int, epoch: int
) -> Iterator[NDArray[np.int64]]:
    """Yield ``rows`` in shuffled batches of at most ``size``.

    The order depends on seed and epoch alone, so a resumed run needs no stored random state.

    >>> [len(batch) for batch in shuffled_batches(np.arange(7), 3, seed=0, epoch=1)]
    [3, 3, 1]
    """
    order = np.random.default_rng([seed, epoch]).permutation(rows)
    for start in range(0, len(order), size):
        yield order[start : start + size]
