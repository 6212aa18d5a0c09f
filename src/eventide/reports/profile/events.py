"""How many messages each event has, on which side of the split, and how unequal they are."""

from __future__ import annotations

import polars as pl

from eventide.data.schema import SPLITS
from eventide.reports.profile.rows import ProfileSection


class EventCount(ProfileSection):
    """Messages of one event, in all and per side of the split."""

    event: str
    messages: int
    train: int
    val: int
    test: int


class Classes(ProfileSection):
    """Events from the largest to the smallest; imbalance = largest / smallest.

    ``training_imbalance`` counts training messages alone and is null without a split, or where an
    event has no training message.
    """

    events: tuple[EventCount, ...]
    labelled: int
    unlabelled: int
    imbalance: float | None
    training_imbalance: float | None


def classes(messages: pl.DataFrame) -> Classes:
    """Count the labelled messages of ``messages`` by event."""
    labelled = messages.filter(pl.col("event").is_not_null())
    counts = (
        labelled.group_by("event")
        .agg(
            pl.len().alias("messages"),
            *((pl.col("split") == side).sum().alias(side) for side in SPLITS),
        )
        .sort("messages", "event", descending=[True, False])
    )
    return Classes(
        events=tuple(EventCount(**row) for row in counts.iter_rows(named=True)),
        labelled=labelled.height,
        unlabelled=messages.height - labelled.height,
        imbalance=_ratio(counts["messages"]),
        training_imbalance=_ratio(counts["train"]),
    )


def _ratio(sizes: pl.Series) -> float | None:
    """Largest over smallest, or nothing where that means nothing."""
    values = sizes.to_list()
    return max(values) / min(values) if values and min(values) > 0 else None


class Sides(ProfileSection):
    """Messages per side of the split; ``none`` were assigned to no side."""

    train: int
    val: int
    test: int
    none: int


def sides(messages: pl.DataFrame) -> Sides:
    """Count the messages on each side of the split, labelled or not."""
    count = {side: int((messages["split"] == side).sum()) for side in SPLITS}
    return Sides(**count, none=messages["split"].null_count())
