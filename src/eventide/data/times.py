"""Times as people write them, turned into UTC milliseconds, whole columns at once.

Understood: ISO 8601 (any offset, ``Z``, a blank instead of ``T``, date only, fractions), epoch
seconds or milliseconds (numbers or digits in a string), and Twitter's
``Sun Dec 01 12:51:01 +0000 2013`` (read without the machine's locale). A time without an offset
is taken as UTC. Anything else, and any time outside 1970 to 2099, becomes null.
"""

from __future__ import annotations

import polars as pl

UTC = pl.Datetime("ms", "UTC")
FIRST_MS, LAST_MS = 0, 4_102_444_800_000  # 1970-01-01 up to, not including, 2100-01-01
SECONDS_BELOW = 100_000_000_000  # as seconds this is the year 5138; as milliseconds, 1973
TWITTER_EPOCH_MS = 1_288_834_974_657
FIRST_SNOWFLAKE = 100_000_000_000_000  # 15 digits; ids before November 2010 were plain counters

ISO = "%Y-%m-%dT%H:%M:%S%.f%#z"
ISO_MINUTES = "%Y-%m-%dT%H:%M%#z"
TWITTER = "%b %d %H:%M:%S %z %Y"
DIGITS = r"^[+-]?\d{1,18}(\.\d*)?$"


def parse_times(times: pl.Series) -> pl.Series:
    """Read a column of times of any supported kind; what cannot be read is null.

    >>> parse_times(pl.Series(["Sun Dec 01 12:51:01 +0000 2013", "2013-12-01T13:51:01+01:00",
    ...                        "1385902261", "1385902261000", "soon"])).dt.epoch("s").to_list()
    [1385902261, 1385902261, 1385902261, 1385902261, None]
    """
    kind = times.dtype
    if kind == pl.Date or (isinstance(kind, pl.Datetime) and kind.time_zone is None):
        found = times.cast(pl.Datetime("ms"), strict=False).dt.replace_time_zone("UTC")
    elif isinstance(kind, pl.Datetime):
        found = times.cast(UTC, strict=False)
    elif kind == pl.String:
        found = _from_strings(times)
    elif kind.is_numeric():
        found = _from_numbers(times)
    else:
        found = pl.Series(times.name, [None] * len(times), dtype=UTC)
    return _within_range(found)


def snowflake_times(ids: pl.Series) -> pl.Series:
    """Read the time a tweet id carries; null where the id is not a snowflake.

    >>> snowflake_times(pl.Series(["407124578246270976", "m17"])).dt.year().to_list()
    [2013, None]
    """
    digits = pl.when(ids.str.contains(r"^\d{15,19}$")).then(ids)
    numbers = pl.select(digits.cast(pl.Int64, strict=False)).to_series()
    ms = pl.select(
        pl.when(numbers >= FIRST_SNOWFLAKE).then(numbers // 2**22 + TWITTER_EPOCH_MS)
    ).to_series()
    return _within_range(ms.cast(UTC))


def _within_range(times: pl.Series) -> pl.Series:
    ms = times.to_physical()
    return pl.select(
        pl.when((ms >= FIRST_MS) & (ms < LAST_MS)).then(times).alias(times.name)
    ).to_series()


def _from_numbers(numbers: pl.Series) -> pl.Series:
    if numbers.dtype.is_integer():
        whole = numbers.cast(pl.Int64, strict=False)
        small = whole.abs() < SECONDS_BELOW
        # Clipping keeps the product from overflowing; the clipped value is out of range anyway.
        ms = pl.when(small).then(whole.clip(-SECONDS_BELOW, SECONDS_BELOW) * 1000).otherwise(whole)
    else:
        real = numbers.cast(pl.Float64).fill_nan(None)
        real = real.clip(-1e15, 1e15)
        ms = pl.when(real.abs() < SECONDS_BELOW).then(real * 1000).otherwise(real).round()
    return pl.select(ms.cast(pl.Int64, strict=False).cast(UTC).alias(numbers.name)).to_series()


def _from_strings(times: pl.Series) -> pl.Series:
    """Try one notation after the other, each only on what the ones before left unread."""
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
    # Times hardly repeat, so remembering them costs more than it saves.
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
    # The weekday is skipped: it carries nothing, and a wrong one should not lose the message.
    return _read(times.str.slice(4).str.strip_chars(), TWITTER)


def _epoch_digits(times: pl.Series) -> pl.Series:
    digits = times.str.strip_chars()
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
    """Bring the freer forms of ISO 8601 to the one the plain notation reads."""
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
