"""Sections of the data profile: rows, events, splits, times, repeated texts, training cost."""

from __future__ import annotations

from datetime import datetime
from typing import cast

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from eventide.data import Intake
from eventide.data.intake import remedy
from eventide.data.near_duplicates import near_duplicate_groups
from eventide.data.schema import SPLITS, read_part
from eventide.settings import preset, resolve
from eventide.training.batches import with_epochs


class ProfileSection(BaseModel):
    """A read-only section of the profile; ``model_dump(mode="json")`` gives plain values."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Reason(ProfileSection):
    """One cause of quarantine, how often it occurred and where first.

    ``column`` is null if the whole row could not be parsed, ``file`` if there is only one file.
    """

    column: str | None
    reason: str
    rows: int
    first_row: int
    file: str | None
    example: str


class Rows(ProfileSection):
    """Rows read = rows kept + rows quarantined; ``remedy`` is the advice for the main cause."""

    read: int
    kept: int
    quarantined: int
    reasons: tuple[Reason, ...]
    remedy: str | None


def rows(intake: Intake) -> Rows:
    """Count kept and quarantined rows, the most frequent cause first."""
    bad = intake.rejected.height
    return Rows(
        read=intake.rows_in,
        kept=intake.messages.height,
        quarantined=bad,
        reasons=tuple(Reason(**row) for row in intake.reasons().iter_rows(named=True)),
        remedy=remedy(intake.rejected, intake.rows_in) if bad else None,
    )


class EventCount(ProfileSection):
    """Messages of one event, in all and per split."""

    event: str
    messages: int
    train: int
    val: int
    test: int


class Classes(ProfileSection):
    """Events from the largest to the smallest; imbalance = largest / smallest.

    ``training_imbalance`` counts training messages only; it is null without a split, or if an
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
            *((pl.col("split") == split).sum().alias(split) for split in SPLITS),
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
    """Largest over smallest; None without values or if one is zero."""
    values = sizes.to_list()
    return max(values) / min(values) if values and min(values) > 0 else None


class SplitCounts(ProfileSection):
    """Messages per split; ``none`` is the number of messages in no split."""

    train: int
    val: int
    test: int
    none: int


def split_counts(messages: pl.DataFrame) -> SplitCounts:
    """Count the messages of each split, labelled or not."""
    count = {split: int((messages["split"] == split).sum()) for split in SPLITS}
    return SplitCounts(**count, none=messages["split"].null_count())


class Times(ProfileSection):
    """First and last message, messages per calendar day (UTC), messages without a time.

    ``same_event_nearest`` is the share of labelled messages whose nearest labelled message in time
    is about the same event: near 1, time alone predicts the event. ``per_day`` is empty for spans
    of more than ``PER_DAY_LIMIT`` days.
    """

    first: datetime | None
    last: datetime | None
    days: int
    per_day: tuple[int, ...]
    missing: int
    same_event_nearest: float | None


PER_DAY_LIMIT = 3660


def times(messages: pl.DataFrame) -> Times:
    """Profile the ``created_at`` column."""
    known = messages.filter(pl.col("created_at").is_not_null())
    if known.is_empty():
        return Times(
            first=None,
            last=None,
            days=0,
            per_day=(),
            missing=messages.height,
            same_event_nearest=None,
        )
    day = known.select(pl.col("created_at").dt.epoch("d"))["created_at"].to_numpy()
    span = int(day.max() - day.min()) + 1
    first, last = known["created_at"].min(), known["created_at"].max()
    return Times(
        first=cast("datetime", first),
        last=cast("datetime", last),
        days=span,
        per_day=tuple(np.bincount(day - day.min()).tolist()) if span <= PER_DAY_LIMIT else (),
        missing=messages.height - known.height,
        same_event_nearest=_same_event_nearest(known.filter(pl.col("event").is_not_null())),
    )


def _same_event_nearest(labelled: pl.DataFrame) -> float | None:
    """Sort by time; the nearest other message is the one before or the one after."""
    if labelled.height < 2:
        return None
    ordered = labelled.sort("created_at", "id")
    moment = ordered["created_at"].dt.epoch("ms").to_numpy()
    event = ordered["event"].rank("dense").to_numpy()
    gap = np.diff(moment).astype(float)
    same = event[1:] == event[:-1]
    before, after = np.append(np.inf, gap), np.append(gap, np.inf)
    matches = np.where(before <= after, np.append(False, same), np.append(same, False))
    return float(matches.mean())


THRESHOLD = 0.8


class Copies(ProfileSection):
    """Groups of messages with one text (or nearly one).

    ``surplus`` is the number of messages beyond the first of each group. ``leaked`` counts
    validation and test messages whose text, or nearly that text, is in training too.
    ``conflicting`` counts groups with conflicting labels: messages of different events.
    """

    groups: int
    messages: int
    surplus: int
    largest: int
    leaked: int
    conflicting: int
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
        conflicting=groups.filter(pl.col("events") > 1).height,
        example=largest["text"].to_list()[0] if groups.height else None,
    )


MEASURED = ((2_270, 0.31), (20_000, 7.5), (100_000, 145.0), (1_000_000, 33_500.0))
"""Number of messages, and measured seconds of an epoch."""

SMALLEST = 400  # fewer messages hardly make an epoch shorter
FIXED_BYTES, BYTES_PER_MESSAGE = 700_000_000, 14_300


class Estimate(ProfileSection):
    """Approximate seconds of an epoch, most epochs, and bytes of memory.

    By the measurements of docs/speed.md: two cores, the default method, three views, evaluation
    after every epoch. Seconds are interpolated between them on logarithmic scales; messages with
    many or few common elements can take twice or half as long.
    """

    seconds_per_epoch: float
    epochs: int
    memory: int


def estimate(messages: int) -> Estimate:
    """Estimate the cost of training on this number of messages with the default settings.

    >>> round(estimate(20_000).seconds_per_epoch, 1), estimate(100_000).memory // 10**9
    (7.5, 2)
    """
    sizes, seconds = np.log(np.array(MEASURED)).T
    size = np.log(max(messages, SMALLEST))
    if size <= sizes[0]:
        per_epoch = seconds[0] + size - sizes[0]  # small sets take time in proportion
    elif size >= sizes[-1]:
        slope = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
        per_epoch = seconds[-1] + slope * (size - sizes[-1])
    else:
        per_epoch = np.interp(size, sizes, seconds)
    return Estimate(
        seconds_per_epoch=float(f"{np.exp(per_epoch):.2g}"),
        epochs=with_epochs(resolve(preset("default")).training, messages).epochs,
        memory=FIXED_BYTES + BYTES_PER_MESSAGE * messages,
    )


def duration(seconds: float) -> str:
    """Write a duration in one unit.

    >>> duration(0.31), duration(31), duration(750), duration(3_000_000)
    ('0.3 s', '31 s', '12 minutes', '833 hours')
    """
    if seconds < 10:
        return f"{seconds:.1g} s" if seconds < 1 else f"{seconds:.2g} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"
