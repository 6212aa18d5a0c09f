"""When messages were written, and how much the time alone gives away."""

from __future__ import annotations

from datetime import datetime
from typing import cast

import numpy as np
import polars as pl

from eventide.reports.profile.rows import ProfileSection


class Times(ProfileSection):
    """First and last message, messages per calendar day (UTC), messages without a time.

    ``same_event_nearest`` is the share of labelled messages whose nearest labelled message in time
    is about the same event: near 1, a clock would do as a classifier. ``per_day`` is
    empty for spans beyond ``PER_DAY_LIMIT`` days.
    """

    first: datetime | None
    last: datetime | None
    days: int
    per_day: tuple[int, ...]
    missing: int
    same_event_nearest: float | None


PER_DAY_LIMIT = 3660


def times(messages: pl.DataFrame) -> Times:
    """Measure the ``created_at`` column."""
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
