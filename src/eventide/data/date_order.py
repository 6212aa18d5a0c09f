"""Day first or month first: 03/04/2013 does not say, so the whole column is asked."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from eventide.data.written_times import DAY_FIRST

PARTS = r"^\D*?(?P<first>\d{1,2})[/.-](?P<second>\d{1,2})[/.-]\d{4}"


@dataclass(frozen=True)
class DateOrder:
    """What a column says about its dates: the order (None: it does not say), and why."""

    day_first: bool | None
    why: str


def is_numbered(texts: pl.Series) -> pl.Series:
    """Tell which texts are dates in three numbers, the year last.

    >>> is_numbered(pl.Series(["13/06/2013 14:05", "2013-06-13", None])).to_list()
    [True, False, False]
    """
    return texts.str.contains(DAY_FIRST).fill_null(False)


def order_of(texts: pl.Series) -> DateOrder:
    """Decide by the parts that can be no month.

    >>> order_of(pl.Series(["03/04/2013", "13/06/2013"]))
    DateOrder(day_first=True, why='13/06/2013 has no other reading')
    >>> order_of(pl.Series(["03/04/2013"])).day_first is None
    True
    """
    parts = texts.to_frame("text").select(pl.col("text").str.extract_groups(PARTS))
    first, second = (
        parts["text"].struct.field(name).cast(pl.Int64) for name in ("first", "second")
    )
    day = texts.filter((first > 12) & (second <= 12))
    month = texts.filter((second > 12) & (first <= 12))
    if len(day) and len(month):
        return DateOrder(None, f"{day[0].strip()} is day first, {month[0].strip()} month first")
    if len(day) or len(month):
        return DateOrder(
            bool(len(day)), f"{(day if len(day) else month)[0].strip()} has no other reading"
        )
    return DateOrder(None, "no date of the column has a part above 12")
