"""Whole groups into the parts of a split, each event's counts met as nearly as can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


def assign_groups(order: pl.DataFrame, groups: NDArray[Any], quota: pl.DataFrame) -> pl.DataFrame:
    """Give ``row, part`` for messages in a drawn ``order`` so that no group is divided.

    Groups are taken event by event in the drawn order while they fit what test, then validation,
    still lack (``quota``: event, val, test); if the lack cannot be met that way, the best
    combination of group sizes is searched. A group that spans several events goes to training:
    it would spend several quotas at once.
    """
    rows = order.with_columns(pl.Series("group", groups))
    whole = (
        rows.group_by("group", maintain_order=True)
        .agg(pl.col("event").first(), pl.col("event").n_unique().alias("events"), pl.len())
        .with_row_index("index")
    )
    parts = np.full(whole.height, "train", dtype=object)
    wanted = {
        event: (val, test) for event, val, test in quota.select("event", "val", "test").rows()
    }
    single = whole.filter(pl.col("events") == 1)
    for (event,), members in single.group_by("event", maintain_order=True):
        val, test = wanted[str(event)]
        index, sizes = members["index"].to_numpy(), members["len"].to_numpy()
        for part, lack in (("test", test), ("val", val)):
            chosen = choose_groups(sizes, lack)
            parts[index[chosen]] = part
            index, sizes = np.delete(index, chosen), np.delete(sizes, chosen)
    named = whole.select("group", pl.Series("part", parts.tolist(), dtype=pl.String))
    return rows.join(named, on="group", how="left", maintain_order="left").select("row", "part")


def choose_groups(sizes: NDArray[Any], target: int) -> NDArray[np.int64]:
    """Choose groups, earlier ones first, whose sizes add up to ``target`` or just less.

    >>> choose_groups(np.array([2, 5, 1, 1]), 4).tolist()
    [0, 2, 3]
    >>> choose_groups(np.array([2, 2, 3]), 3).tolist()  # greed would stop at 2
    [2]
    """
    chosen, lack = [], target
    for index, size in enumerate(sizes.tolist()):
        if lack == 0:
            break
        if size <= lack:
            chosen.append(index)
            lack -= size
    if lack:
        chosen = _best_combination(sizes.tolist(), target)
    return np.array(chosen, dtype=np.int64)


def _best_combination(sizes: list[int], target: int) -> list[int]:
    """Search all sums up to ``target``; bit s of a number says that the sum s can be reached."""
    limit = (1 << (target + 1)) - 1
    reached = [1]
    for size in sizes:
        reached.append(reached[-1] | (reached[-1] << size) & limit)
    total = reached[-1].bit_length() - 1
    chosen = []
    for index in range(len(sizes) - 1, -1, -1):
        if not reached[index] >> total & 1:
            chosen.append(index)
            total -= sizes[index]
    return chosen[::-1]
