"""Ways to split messages into training, validation and test: `SPLITS`, and what reads it.

`SPLITS` is the one table of splits that every verb reads. A new split is a function in
`split_draws`, a line in `SPLITS`, and a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from eventide.data.long_tail import by_size
from eventide.data.split_draws import (
    ClassTooSmall,
    Groups,
    Small,
    chronological_split,
    per_class_split,
    proportional_split,
    stored_split,
)
from eventide.errors import BadSetting
from eventide.registry import suggestion


@dataclass(frozen=True)
class Split:
    """One way to split messages.

    ``draw`` takes the messages and the ``parameters``; the seed too if ``seeded``, near-duplicate
    groups if there are any, and ``small`` if it draws ``fixed_counts`` of every event. An
    ``inductive`` split keeps validation and test messages out of the training graph. ``stored``
    says that it draws nothing.
    """

    draw: Callable[..., pl.DataFrame]
    description: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    seeded: bool = True
    inductive: bool = False
    keeps_duplicates_together: bool = False
    fixed_counts: bool = False
    stored: bool = False


_PAPERS: Mapping[str, float] = {"validation": 20, "test": 30}
_SHARES: Mapping[str, float] = {"validation": 0.1, "test": 0.2}
SPLITS: Mapping[str, Split] = {
    "random": Split(
        per_class_split,
        "20 validation and 30 test messages of each event, drawn by the seed (the paper's)",
        _PAPERS,
        fixed_counts=True,
    ),
    "proportional": Split(
        proportional_split, "a tenth and a fifth of each event, drawn by the seed", _SHARES
    ),
    "duplicate-aware": Split(
        per_class_split,
        "as random, but near-duplicate texts stay in one part of the split",
        _PAPERS,
        fixed_counts=True,
        keeps_duplicates_together=True,
    ),
    "chronological": Split(
        chronological_split,
        "each event's earlier messages train, its later ones are assigned as new",
        _SHARES,
        seeded=False,
        inductive=True,
    ),
    "stored": Split(
        stored_split,
        "the column `split` as it is, the same for every seed",
        seeded=False,
        stored=True,
    ),
}
"""Every split by its name: what ``--split`` offers."""
OTHER_NAMES = {"per-class": "random"}


def split_name(name: str) -> str:
    """Return the name of a split in `SPLITS`, or say which there are.

    >>> split_name("per-class")
    'random'
    >>> split_name("randm")
    Traceback (most recent call last):
    eventide.errors.BadSetting: there is no split 'randm'
      next:  did you mean 'random'? Known: random, ...
    """
    known = OTHER_NAMES.get(name, name)
    if known not in SPLITS:
        raise BadSetting(f"there is no split {name!r}", next_step=suggestion(name, SPLITS))
    return known


def split_groups(messages: pl.DataFrame, split: str) -> Groups:
    """Return the near-duplicate groups that ``split`` keeps together; None if it keeps none."""
    if not SPLITS[split].keeps_duplicates_together:
        return None
    from eventide.data.near_duplicates import near_duplicate_groups  # scipy, which few need

    return near_duplicate_groups(messages["text"])


def split_messages(
    messages: pl.DataFrame, split: str, seed: int, groups: Groups = None, small: Small = "error"
) -> pl.DataFrame:
    """Return the messages with the column ``split`` filled as the table says.

    ``groups`` are kept together. ``small="train"`` leaves events that are too small for fixed
    counts in training.
    """
    row = SPLITS[split]
    arguments: dict[str, Any] = dict(row.parameters)
    arguments |= {"seed": seed} if row.seeded else {}
    arguments |= {} if groups is None else {"keep_together": groups}
    arguments |= {"small": small} if row.fixed_counts else {}
    try:
        return row.draw(messages, **arguments)
    except ClassTooSmall as error:
        stored = "split" in messages.columns and bool(messages["split"].count())
        also = ", or --split stored for the split that the messages have" if stored else ""
        raise ClassTooSmall(
            error.what, where=error.where, next_step=f"choose --split proportional{also}"
        ) from None


def split_counts(messages: pl.DataFrame) -> pl.DataFrame:
    """Count ``train, val, test`` per event, largest event first."""
    counted = messages.drop_nulls("event").group_by("event")
    parts = counted.agg(
        (pl.col("split") == part).sum().cast(pl.Int64).alias(part)
        for part in ("train", "val", "test")
    )
    sizes = by_size(messages).drop("label")
    return sizes.join(parts, on="event", how="left", maintain_order="left")


def split_shortfalls(messages: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """Say how near a grouped split came: events of ``messages`` whose counts differ from ``asked``.

    ``asked`` is another split of the same messages, usually the one without ``keep_together``.
    Columns: ``event, val, val_asked, test, test_asked``; no rows when every count was met.
    """
    wanted = split_counts(asked).select("event", val_asked="val", test_asked="test")
    return (
        split_counts(messages)
        .join(wanted, on="event", how="left", maintain_order="left")
        .filter((pl.col("val") != pl.col("val_asked")) | (pl.col("test") != pl.col("test_asked")))
        .select("event", "val", "val_asked", "test", "test_asked")
    )
