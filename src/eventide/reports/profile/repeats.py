"""Texts that occur more than once: copies, near-copies, and those that cross the split."""

from __future__ import annotations

import polars as pl

from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.schema import read_part
from eventide.reports.profile.rows import ProfileSection

THRESHOLD = 0.8


class Copies(ProfileSection):
    """Groups of messages with one text (or nearly one).

    ``surplus`` is how many messages would go if each group were kept once. ``leaked`` counts
    validation and test messages whose text, or nearly that text, is in training as well.
    ``disputed`` counts groups whose messages carry different events.
    """

    groups: int
    messages: int
    surplus: int
    largest: int
    leaked: int
    disputed: int
    example: str | None


class Repeats(ProfileSection):
    """Exact copies, and near-copies at Jaccard ``threshold`` (retweets included)."""

    threshold: float
    exact: Copies
    near: Copies


def repeats(messages: pl.DataFrame) -> Repeats:
    """Group the messages by text, exactly and nearly."""
    exact = messages["text"].rank("dense")
    near = pl.Series(near_duplicate_groups(read_part(messages["text"]), threshold=THRESHOLD))
    return Repeats(
        threshold=THRESHOLD, exact=_copies(messages, exact), near=_copies(messages, near)
    )


def _copies(messages: pl.DataFrame, group: pl.Series) -> Copies:
    held_out = pl.col("split").is_in(["val", "test"]).fill_null(value=False)
    groups = (
        messages.lazy()
        .select("text", "event", "split", group.alias("group"))
        .group_by("group", maintain_order=True)
        .agg(
            pl.len().alias("size"),
            pl.col("text").first(),
            pl.col("event").drop_nulls().n_unique().alias("events"),
            held_out.sum().alias("held_out"),
            (pl.col("split") == "train").any().fill_null(value=False).alias("trained"),
        )
        .filter(pl.col("size") > 1)
        .collect()
    )
    largest = groups.sort("size", descending=True, maintain_order=True).head(1)
    members = int(groups["size"].sum())
    return Copies(
        groups=groups.height,
        messages=members,
        surplus=members - groups.height,
        largest=largest["size"].to_list()[0] if groups.height else 0,
        leaked=int(groups.filter("trained")["held_out"].sum()),
        disputed=groups.filter(pl.col("events") > 1).height,
        example=largest["text"].to_list()[0] if groups.height else None,
    )
