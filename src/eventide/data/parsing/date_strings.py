"""Parses dates with month names or time zones, and dates in numbers, day or month first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

ZONES: dict[str, int] = {
    "Z": 0, "UTC": 0, "UT": 0, "GMT": 0, "WET": 0,
    "BST": 60, "WEST": 60, "CET": 60, "MEZ": 60, "WAT": 60,
    "CEST": 120, "MESZ": 120, "EET": 120, "SAST": 120,
    "EEST": 180, "MSK": 180, "EAT": 180, "TRT": 180,
    "PKT": 300, "WIB": 420, "SGT": 480, "HKT": 480, "AWST": 480,
    "JST": 540, "KST": 540, "ACST": 570, "AEST": 600, "ACDT": 630, "AEDT": 660,
    "NZST": 720, "NZDT": 780,
    "BRT": -180, "ART": -180, "NDT": -150, "NST": -210,
    "EDT": -240, "EST": -300, "CDT": -300, "CST": -360, "MDT": -360, "MST": -420,
    "PDT": -420, "PST": -480, "AKDT": -480, "AKST": -540, "HST": -600,
}  # fmt: skip


def zone_offsets(names: Iterable[str]) -> str:
    """List the offsets of time zone names.

    >>> zone_offsets(["CET", "NST"])
    'CET = UTC+01:00, NST = UTC-03:30'
    """
    return ", ".join(f"{name} = UTC{_offset(ZONES[name])}" for name in sorted(names))


def _offset(minutes: int) -> str:
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))"
)
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_WEEKDAY = r"(?i:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_CLOCK = (
    r"(?:(?:,?\s*T|,?\s+at\s+|,?\s+|,)(?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?)?"
)
_ZONE = r"(?:\s*\(?(?P<zone>[A-Za-z]{1,5})\)?)?(?:\s*(?P<offset>[+-]\d\d:?\d\d))?"


def _whole(date: str) -> str:
    return rf"^\s*{_WEEKDAY}{date}{_CLOCK}{_ZONE}\s*$"


NAMED = (
    _whole(r"(?P<year>\d{4})[/.-](?P<month>\d{1,2})[/.-](?P<day>\d{1,2})"),
    _whole(rf"{_DAY}\.?[ -]+{_MONTH}\.?,?[ -]+{_YEAR}"),
    _whole(rf"{_MONTH}\.?\s+{_DAY},?\s+{_YEAR}"),
)
"""Patterns of dates whose parts are unambiguous."""

DAY_FIRST = _whole(r"(?P<day>\d{1,2})[/.-](?P<month>\d{1,2})[/.-](?P<year>\d{4})")
MONTH_FIRST = _whole(r"(?P<month>\d{1,2})[/.-](?P<day>\d{1,2})[/.-](?P<year>\d{4})")
_YEAR_LAST = (
    r"^(\s*[A-Za-z]{3}\s+)?([A-Za-z]{3}\s+\d{1,2})\s+(\d\d:\d\d:\d\d\s+[A-Za-z]{1,5})\s+(\d{4})\s*$"
)


def named_times(texts: pl.Series) -> tuple[pl.Series, set[str]]:
    """Read times whose parts are unambiguous; also return the zone names that occurred.

    >>> written = ["Sun Dec 01 12:51:01 EST 2013", "13 June 2013, 2:05 PM", "13/06/2013"]
    >>> times, zones = named_times(pl.Series(written))
    >>> times.dt.to_string("%F %R").to_list(), zones
    (['2013-12-01 17:51', '2013-06-13 14:05', None], {'EST'})
    """
    texts = texts.str.replace(_YEAR_LAST, "$2 $4 $3")  # the format of `date` and Java
    found, zones = assembled(texts, NAMED[0])
    for pattern in NAMED[1:]:
        if found.null_count() == texts.null_count():
            break
        more, other = assembled(texts, pattern)
        found, zones = found.zip_with(found.is_not_null(), more), zones | other
    return found, zones


def numbered_times(texts: pl.Series, *, day_first: bool) -> tuple[pl.Series, set[str]]:
    """Read dates in three numbers, the year last.

    >>> numbered_times(pl.Series(["3.4.2013"]), day_first=True)[0].dt.month().to_list()
    [4]
    """
    return assembled(texts, DAY_FIRST if day_first else MONTH_FIRST)


def assembled(texts: pl.Series, pattern: str) -> tuple[pl.Series, set[str]]:
    """Read the texts that match the pattern; also return the zone names that occurred."""
    # Rechunked: polars 2.1 panics on an empty first chunk.
    part = (
        texts.rechunk()
        .to_frame("text")
        .select(pl.col("text").str.extract_groups(pattern))
        .unnest("text")
    )
    hour = pl.col("hour").fill_null("0").cast(pl.Int64)
    half = pl.col("half").str.to_lowercase()
    hour = (
        pl.when(half.is_null()).then(hour).when(hour.is_between(1, 12)).then(
            hour % 12 + pl.when(half == "p").then(12).otherwise(0)
        )
    )  # fmt: skip
    month = pl.col("month").str.to_lowercase().str.slice(0, 3)
    month = month.replace({name: str(n) for n, name in enumerate(MONTHS, start=1)})
    iso = pl.format(
        "{}-{}-{}T{}:{}:{}.{}",
        "year",
        month.str.zfill(2),
        pl.col("day").str.zfill(2),
        hour.cast(pl.String).str.zfill(2),
        pl.col("minute").fill_null("00"),
        pl.col("second").fill_null("00"),
        pl.col("fraction").str.slice(0, 3).str.pad_end(3, "0").fill_null("000"),
    )
    zone = pl.col("zone").str.to_uppercase()
    east = zone.replace_strict(ZONES, default=None, return_dtype=pl.Int64)
    # A name with an offset is valid only for UTC and GMT, as in "UTC+02:00".
    sound = zone.is_null() | (east.is_not_null() & (pl.col("offset").is_null() | (east == 0)))
    digits = pl.col("offset").str.replace(":", "", literal=True).str.slice(1).cast(pl.Int64)
    offset = digits // 100 * 60 + digits % 100
    offset = pl.when(pl.col("offset").str.starts_with("-")).then(-offset).otherwise(offset)
    minutes = east.fill_null(0) + offset.fill_null(0)
    moment = iso.str.to_datetime("%Y-%m-%dT%H:%M:%S%.3f", time_unit="ms", strict=False, cache=False)
    moment = (moment - pl.duration(minutes=minutes, time_unit="ms")).dt.replace_time_zone("UTC")
    table = part.select(
        pl.when(sound).then(moment).alias(texts.name),
        pl.when(sound & moment.is_not_null() & ~zone.is_in(["Z", "UTC", "GMT", "UT"]))
        .then(zone)
        .alias("__zone"),
    )
    return table[texts.name], set(table["__zone"].drop_nulls().unique())


PARTS = r"^\D*?(?P<first>\d{1,2})[/.-](?P<second>\d{1,2})[/.-]\d{4}"


@dataclass(frozen=True)
class DateOrder:
    """The order of a column's dates (None: unknown), and the reason."""

    day_first: bool | None
    why: str


def is_numbered(texts: pl.Series) -> pl.Series:
    """Mark the texts that are dates in three numbers, the year last.

    >>> is_numbered(pl.Series(["13/06/2013 14:05", "2013-06-13", None])).to_list()
    [True, False, False]
    """
    return texts.str.contains(DAY_FIRST).fill_null(False)


def date_order(texts: pl.Series) -> DateOrder:
    """Decide the order from parts above 12, which cannot be months.

    >>> date_order(pl.Series(["03/04/2013", "13/06/2013"]))
    DateOrder(day_first=True, why='13/06/2013 has no other reading')
    >>> date_order(pl.Series(["03/04/2013"])).day_first is None
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
