"""Timestamps to integer time buckets: whole days by default, any unit and width on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from eventide.errors import BadSetting, InputError

SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}


def time_buckets(
    created_at: Any, unit: str = "day", width: int = 1, *, missing: int = 0
) -> npt.NDArray[np.int64]:
    """Number the time bucket of each message: floor(seconds since 1970 in UTC / bucket length).

    ``created_at`` is a polars Datetime series (or what polars can read as one); a bucket is
    ``width`` times ``unit`` long. Floored, so times before 1970 fall into the bucket they lie in.
    Where no message has a time, all are in the bucket ``missing``: then time parts nobody.

    >>> from datetime import datetime
    >>> when = [datetime(1970, 1, 3, 23, 59), datetime(1970, 1, 4), datetime(1969, 12, 31, 12)]
    >>> time_buckets(when).tolist()
    [2, 3, -1]
    >>> time_buckets(when, unit="hour", width=12).tolist()
    [5, 6, -1]
    """
    if unit not in SECONDS:
        raise BadSetting(f"no time unit {unit!r}", next_step=f"Use one of: {', '.join(SECONDS)}")
    if not isinstance(width, int) or width < 1:
        raise BadSetting(
            f"a time bucket cannot be {width!r} {unit}s wide", next_step="Use a whole number >= 1"
        )
    column = created_at if isinstance(created_at, pl.Series) else pl.Series(created_at)
    if not isinstance(column.dtype, pl.Datetime):
        raise InputError(
            f"times must be timestamps, not {column.dtype}",
            where="column created_at",
            next_step="Read the messages with eventide.data.read, which parses times",
        )
    if column.null_count() == len(column):
        return np.full(len(column), missing, dtype=np.int64)
    if column.null_count():
        raise InputError(
            f"{column.null_count()} messages have no time",
            where="column created_at",
            next_step="Give every message a time, or none",
        )
    # physical values of a zoned column count from 1970 in UTC, so no conversion is needed
    milliseconds = column.cast(pl.Datetime("ms", column.dtype.time_zone)).to_physical()
    length = SECONDS[unit] * width * 1_000
    buckets: npt.NDArray[np.int64] = milliseconds.to_numpy().astype(np.int64) // length
    return buckets


def bucket_starts(
    buckets: npt.NDArray[np.int64], unit: str = "day", width: int = 1
) -> npt.NDArray[np.int64]:
    """Give the milliseconds since 1970 at which time buckets begin.

    >>> bucket_starts(np.array([0, 2])).tolist()
    [0, 172800000]
    """
    return buckets * (SECONDS[unit] * width * 1_000)
