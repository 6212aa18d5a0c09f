"""Parses columns of times to UTC milliseconds.

Supported: ISO 8601 (any offset, ``Z``, a blank instead of ``T``, date only, fractions), epoch
seconds, milli-, micro- or nanoseconds (numbers or digits in a string), Twitter's
``Sun Dec 01 12:51:01 +0000 2013`` (read without the machine's locale), and dates with the month's
name or the year first. A time without an offset is read as UTC. Other text, and times outside
1970 to 2099, become null.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from eventide.data.parsing.date_strings import named_times, numbered_times
from eventide.errors import BadSetting

UTC = pl.Datetime("ms", "UTC")
FIRST_MS, LAST_MS = 0, 4_102_444_800_000  # 1970-01-01 up to, not including, 2100-01-01
SECONDS_BELOW = 10**11  # as seconds this is the year 5138; as milliseconds, 1973
MILLISECONDS_BELOW, MICROSECONDS_BELOW = 10**14, 10**17  # and so on
TWITTER_EPOCH_MS = 1_288_834_974_657
FIRST_SNOWFLAKE = 100_000_000_000_000  # 15 digits; ids before November 2010 were counters

ISO = "%Y-%m-%dT%H:%M:%S%.f%#z"
ISO_MINUTES = "%Y-%m-%dT%H:%M%#z"
TWITTER = "%b %d %H:%M:%S %z %Y"
DIGITS = r"^[+-]?\d{1,19}(\.\d*)?$"


@dataclass
class TimeReader:
    """Reads the times of one source and collects the time zone names that occurred.

    ``time_format`` is the format of all times, ``day_first`` the order of dates in numbers.
    """

    time_format: str | None = None
    day_first: bool | None = None
    zones: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        if self.time_format is None:
            return
        if "%" not in self.time_format or "%Z" in self.time_format:
            raise BadSetting(
                f"not a format of times: {self.time_format!r}",
                where="time_format (--time-format)",
                next_step="write for example '%d/%m/%Y %H:%M'; offsets as %z, names of zones"
                " are understood without a format",
            )
        try:
            self._formatted(pl.Series(["x"]))
        except pl.exceptions.PolarsError as error:
            raise BadSetting(
                f"not a format of times: {self.time_format!r} ({str(error).splitlines()[0]})",
                where="time_format (--time-format)",
                next_step="write for example '%d/%m/%Y %H:%M'",
            ) from None

    @property
    def undecided(self) -> bool:
        """Whether the order of dates such as 03/04/2013 depends on the rest of the column."""
        return self.time_format is None and self.day_first is None

    @property
    def no_time(self) -> str:
        """The reason for rejecting a time that cannot be read."""
        if self.time_format is not None:
            return f"not a time in the format {self.time_format}, 1970 to 2099"
        order = {True: "; dates in numbers were read day first", None: ""}
        order[False] = "; dates in numbers were read month first"
        return f"not a time in a known format, 1970 to 2099{order[self.day_first]}"

    def read(self, times: pl.Series) -> pl.Series:
        """Read a column of times of any supported kind; what cannot be read is null."""
        kind = times.dtype
        if self.time_format is not None and kind.is_numeric():
            times = times.cast(pl.String)
            kind = times.dtype
        if kind == pl.Date or (isinstance(kind, pl.Datetime) and kind.time_zone is None):
            found = times.cast(pl.Datetime("ms"), strict=False).dt.replace_time_zone("UTC")
        elif isinstance(kind, pl.Datetime):
            found = times.cast(UTC, strict=False)
        elif kind == pl.String:
            found = self._from_strings(times)
        elif kind.is_numeric():
            found = _from_numbers(times)
        else:
            found = pl.Series(times.name, [None] * len(times), dtype=UTC)
        return within_range(found)

    def _from_strings(self, times: pl.Series) -> pl.Series:
        if self.time_format is not None:
            return self._formatted(times.str.strip_chars())
        found = _quickly(times)
        left = (found.is_null() & times.is_not_null()).arg_true()
        if len(left) == 0:
            return found
        texts = times.gather(left)
        named, zones = named_times(texts)
        if self.day_first is not None:
            numbered, other = numbered_times(texts, day_first=self.day_first)
            named, zones = named.zip_with(named.is_not_null(), numbered), zones | other
        self.zones |= zones
        return found.scatter(left, named)

    def _formatted(self, times: pl.Series) -> pl.Series:
        # Python's .%f is %.f in chrono, the library that polars uses.
        notation = (self.time_format or "").replace(".%f", "%.f").replace("%f", "%6f")
        return _read(times, notation)


def parse_times(times: pl.Series) -> pl.Series:
    """Read a column of times of any supported kind; what cannot be read is null.

    >>> parse_times(pl.Series(["Sun Dec 01 12:51:01 +0000 2013", "2013-12-01T13:51:01+01:00",
    ...                        "1385902261", "1385902261000", "soon"])).dt.epoch("s").to_list()
    [1385902261, 1385902261, 1385902261, 1385902261, None]
    """
    return TimeReader().read(times)


def snowflake_times(ids: pl.Series) -> pl.Series:
    """Read the time that a tweet id encodes; null if the id is not a snowflake.

    >>> snowflake_times(pl.Series(["407124578246270976", "m17"])).dt.year().to_list()
    [2013, None]
    """
    digits = pl.when(ids.str.contains(r"^\d{15,19}$")).then(ids)
    numbers = pl.select(digits.cast(pl.Int64, strict=False)).to_series()
    ms = pl.select(
        pl.when(numbers >= FIRST_SNOWFLAKE).then(numbers // 2**22 + TWITTER_EPOCH_MS)
    ).to_series()
    return within_range(ms.cast(UTC))


def within_range(times: pl.Series) -> pl.Series:
    """Return the times with those before 1970 or after 2099 as null."""
    ms = times.to_physical()
    return pl.select(
        pl.when((ms >= FIRST_MS) & (ms < LAST_MS)).then(times).alias(times.name)
    ).to_series()


def _from_numbers(numbers: pl.Series) -> pl.Series:
    if numbers.dtype.is_integer():
        value = numbers.cast(pl.Int64, strict=False)
        # Clipping prevents an overflow; the clipped value is out of range in any case.
        seconds = value.clip(-SECONDS_BELOW, SECONDS_BELOW) * 1000
        micro, nano = value // 1000, value // 1_000_000
    else:
        value = numbers.cast(pl.Float64).fill_nan(None).clip(-1e19, 1e19)
        seconds, micro, nano = value * 1000, value / 1000, value / 1_000_000
    size = value.abs()
    ms = (
        pl.when(size < SECONDS_BELOW).then(seconds)
        .when(size < MILLISECONDS_BELOW).then(value)
        .when(size < MICROSECONDS_BELOW).then(micro)
        .otherwise(nano)
    )  # fmt: skip
    if not numbers.dtype.is_integer():
        ms = ms.round()
    return pl.select(ms.cast(pl.Int64, strict=False).cast(UTC).alias(numbers.name)).to_series()


def _quickly(times: pl.Series) -> pl.Series:
    """Try one notation after the other, each on the times that are still unread."""
    found = pl.Series(times.name, [None], dtype=UTC).new_from_index(0, len(times))
    weekday = ((times >= "A") & (times < "{")).fill_null(False)  # begins with a letter
    for notation in (_utc_iso, _utc_twitter, _plain_iso, _twitter, _epoch_digits, _loose_iso):
        if found.null_count() == times.null_count():
            break
        # Twitter's format begins with a weekday, all others with a digit or a sign.
        fits = weekday if notation in (_utc_twitter, _twitter) else ~weekday
        left = (found.is_null() & times.is_not_null() & fits).arg_true()
        if len(left) == 0:
            continue
        if len(left) == len(times):
            found = notation(times).alias(times.name)
        else:
            found = found.scatter(left, notation(times.gather(left)))
    return found


def _read(times: pl.Series, notation: str) -> pl.Series:
    # Times rarely repeat, so a cache costs more than it saves.
    return times.str.to_datetime(
        notation, time_unit="ms", time_zone="UTC", strict=False, cache=False
    )


def _read_utc(times: pl.Series, notation: str) -> pl.Series:
    """Read times known to be UTC: without an offset to parse, polars is five times as fast."""
    naive = times.str.to_datetime(notation, time_unit="ms", strict=False, cache=False)
    return naive.dt.replace_time_zone("UTC")


def _utc_iso(times: pl.Series) -> pl.Series:
    plain = times.str.slice(19).is_in(["", "Z", "+00:00", "+0000", ".000Z"])
    return _read_utc(
        pl.select(pl.when(plain).then(times.str.slice(0, 19))).to_series(), "%Y-%m-%dT%H:%M:%S"
    )


def _utc_twitter(times: pl.Series) -> pl.Series:
    plain = times.str.slice(19, 7) == " +0000 "
    moved = times.str.slice(26) + times.str.slice(3, 16)
    return _read_utc(pl.select(pl.when(plain).then(moved)).to_series(), "%Y %b %d %H:%M:%S")


def _plain_iso(times: pl.Series) -> pl.Series:
    return _read(times, ISO)


def _twitter(times: pl.Series) -> pl.Series:
    # The weekday is skipped: it is redundant, and a wrong one should not reject the message.
    return _read(times.str.slice(4).str.strip_chars(), TWITTER)


def _epoch_digits(times: pl.Series) -> pl.Series:
    digits = times.str.strip_chars().str.replace(r"^(\d+),(\d+)$", "$1.$2")
    # 20131201 is a day; as epoch seconds it would be a day in August 1970.
    day = digits.str.contains(r"^(19|20)\d{6}$")
    plain = pl.when(digits.str.contains(DIGITS) & ~day).then(digits)
    frame = pl.select(
        pl.when(~digits.str.contains(".", literal=True))
        .then(plain)
        .cast(pl.Int64, strict=False)
        .alias("whole"),
        plain.cast(pl.Float64, strict=False).alias("real"),
    )
    return _from_numbers(frame["whole"]).zip_with(
        frame["whole"].is_not_null(), _from_numbers(frame["real"])
    )


def _loose_iso(times: pl.Series) -> pl.Series:
    """Normalise other forms of ISO 8601, then read them."""
    text = (
        times.str.strip_chars()
        .str.replace(r"^(\d{4})(\d\d)(\d\d)(T|$)", "$1-$2-$3$4")
        .str.replace(r"^(\d{4}-\d\d-\d\d)[ tT]+", "${1}T")
        .str.replace(r"^(\d{4}-\d\d-\d\d)$", "${1}T00:00:00")
        .str.replace(r"^(.{10}T\d\d)(\d\d)(\d\d)", "$1:$2:$3")
        .str.replace(r"^(.{10}T\d\d:\d\d:\d\d),", "$1.")
        .str.replace(r"\s*(?:[zZ]|UTC|GMT)$", "Z")
        .str.replace(r"\s+([+-]\d\d:?(?:\d\d)?)$", "$1")
        .str.replace(r"^(.{10}T[\d:.]+)$", "${1}Z")
    )
    seconds = _read(text, ISO)
    return seconds.zip_with(seconds.is_not_null(), _read(text, ISO_MINUTES))
