"""Mean ranks: who is ahead over several columns, among those that have a value in each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def mean_ranks(
    values: Mapping[str, Sequence[float | None]], *, high: bool = True
) -> dict[str, float]:
    """Return the mean rank of each name over the columns, 1 for the best; ties share their ranks.

    A name that lacks a value has no rank and takes none from the others.

    >>> mean_ranks({"a": [0.9, 0.5], "b": [0.8, 0.5], "c": [0.95, None]})
    {'a': 1.25, 'b': 1.75}
    """
    whole = {
        name: [each for each in row if each is not None]
        for name, row in values.items()
        if row and None not in row
    }
    sign = -1 if high else 1
    return {
        name: math.fsum(
            1
            + sum(sign * other[at] < sign * value for other in whole.values())
            + (sum(other[at] == value for other in whole.values()) - 1) / 2
            for at, value in enumerate(row)
        )
        / len(row)
        for name, row in whole.items()
    }
