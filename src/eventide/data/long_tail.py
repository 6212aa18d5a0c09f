"""Long-tailed subsets: ``n_i = n_max * gamma**i`` messages of the i-th event."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from eventide.errors import BadSetting


def long_tail_sizes(n_max: int, gamma: float, classes: int) -> list[int]:
    """Return the class sizes of the paper's exponential tail, ``n_i = n_max * gamma**i``.

    The i-th class (from 0, largest first) gets the integer part of ``n_i``, and at least 1.

    >>> long_tail_sizes(989, 0.5, 7)
    [989, 494, 247, 123, 61, 30, 15]
    """
    if n_max < 1:
        raise BadSetting(f"n_max must be at least 1, got {n_max}")
    if not (math.isfinite(gamma) and 0 < gamma <= 1):
        raise BadSetting(f"gamma must lie in (0, 1], got {gamma}")
    if classes < 0:
        raise BadSetting(f"the number of classes cannot be negative, got {classes}")
    return [max(1, int(n_max * gamma**index)) for index in range(classes)]


def by_size(messages: pl.DataFrame) -> pl.DataFrame:
    """List the events, largest first and then by name, as ``label, event, size``.

    >>> by_size(pl.DataFrame({"event": ["a", "b", "b", None]})).rows()
    [(0, 'b', 2), (1, 'a', 1)]
    """
    return (
        messages.drop_nulls("event")
        .group_by("event")
        .agg(pl.len().cast(pl.Int64).alias("size"))
        .sort("size", "event", descending=[True, False])
        .with_row_index("label")
        .with_columns(pl.col("label").cast(pl.Int64))
    )


def sample_long_tail(
    messages: pl.DataFrame, n_max: int, gamma: float, seed: int = 0
) -> pl.DataFrame:
    """Draw a long-tailed subset: ``n_max * gamma**i`` random messages of the i-th largest event.

    An event with fewer messages keeps all of them. Unlabelled messages are left out; the other
    rows keep their order. The draw depends on ids and seed, not on the order of rows.
    """
    events = by_size(messages)
    sizes = long_tail_sizes(n_max, gamma, events.height)
    wanted = events.select("event", pl.Series("wanted", sizes, dtype=pl.Int64))
    kept = (
        shuffled(messages, seed)
        .join(wanted, on="event", how="inner", maintain_order="left")
        .filter(pl.int_range(pl.len()).over("event") < pl.col("wanted"))
    )
    return messages[kept["row"].sort().to_numpy()]


def shuffled(messages: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return ``row, id, event`` of the labelled messages in an order given by ids and seed."""
    rows = (
        messages.select("id", "event")
        .with_row_index("row")
        .drop_nulls("event")
        .sort("id", maintain_order=True)
    )
    return rows[np.random.default_rng(seed).permutation(rows.height)]
