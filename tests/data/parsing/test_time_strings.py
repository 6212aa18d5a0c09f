from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.data.parsing.time_strings import TWITTER_EPOCH_MS, parse_times, snowflake_times

NOON = datetime(2013, 12, 1, 12, 51, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "2013-12-01T12:51:01Z",
        "2013-12-01T12:51:01+00:00",
        "2013-12-01T14:51:01+0200",
        "2013-12-01T07:51:01-05",
        "2013-12-01T18:21:01+05:30",
        "2013-12-01 12:51:01",
        "2013-12-01 12:51:01 UTC",
        "2013-12-01 12:51:01 +0000",
        "  2013-12-01t12:51:01z ",
        "20131201T125101Z",
        "2013-12-01T12:51:01.000000",
        "Sun Dec 01 12:51:01 +0000 2013",
        "Mon Dec 01 14:51:01 +0200 2013",
        "1385902261",
        "1385902261.0",
        "1385902261000",
        " 1385902261 ",
    ],
)
def test_one_moment_in_many_notations(written: str) -> None:
    assert parse_times(pl.Series([written])).to_list() == [NOON]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2013-12-01", datetime(2013, 12, 1, tzinfo=UTC)),
        ("20131201", datetime(2013, 12, 1, tzinfo=UTC)),
        ("2013-12-01T12:51", datetime(2013, 12, 1, 12, 51, tzinfo=UTC)),
        ("2013-12-01T12:51:01,25Z", NOON + timedelta(milliseconds=250)),
        ("2013-12-01T12:51:01.123456789Z", NOON + timedelta(milliseconds=123)),
        ("1385902261.5", NOON + timedelta(milliseconds=500)),
    ],
)
def test_coarser_and_finer_times(written: str, read: datetime) -> None:
    assert parse_times(pl.Series([written])).to_list() == [read]


@pytest.mark.parametrize(
    "written",
    ["soon", "", "2013-13-01", "2013-02-30", "2013-12-01T25:00:00", "1800-01-01", "2100-01-01",
     "-5", "99999999999999999999999", "nan", "1e9", "\x00", "Sun Dec 32 12:51:01 +0000 2013"],
)  # fmt: skip
def test_what_is_no_time_is_null(written: str) -> None:
    assert parse_times(pl.Series([written])).to_list() == [None]


def test_typed_columns() -> None:
    local = NOON.astimezone(timezone(timedelta(hours=5)))
    assert parse_times(pl.Series([NOON.replace(tzinfo=None)])).to_list() == [NOON]
    assert parse_times(pl.Series([local]).dt.convert_time_zone("Asia/Karachi")).to_list() == [NOON]
    assert parse_times(pl.Series([date(2013, 12, 1)])).dt.epoch("s").to_list() == [1385856000]
    assert parse_times(pl.Series([1385902261, 1385902261000, 2**63 - 1, -(2**63), None])).to_list() == [
        NOON, NOON, None, None, None,
    ]  # fmt: skip
    assert parse_times(pl.Series([1385902261.0, float("nan"), float("inf")])).to_list() == [
        NOON, None, None,
    ]  # fmt: skip
    assert parse_times(pl.Series([2**64 - 1], dtype=pl.UInt64)).to_list() == [None]
    assert parse_times(pl.Series([True])).to_list() == [None]
    assert parse_times(pl.Series([], dtype=pl.String)).dtype == pl.Datetime("ms", "UTC")


moments = st.datetimes(datetime(1970, 1, 1), datetime(2099, 12, 31))


@settings(deadline=None)
@given(st.lists(moments, min_size=1, max_size=8), st.integers(-12 * 60, 14 * 60))
def test_iso_with_any_offset_agrees_with_python(naive: list[datetime], minutes: int) -> None:
    offset = timezone(timedelta(minutes=minutes))
    times = [moment.replace(tzinfo=UTC).astimezone(offset) for moment in naive]
    ms = [int((t - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1)) for t in times]
    read = parse_times(pl.Series([moment.isoformat() for moment in times]))
    assert read.dt.epoch("ms").to_list() == ms


@settings(deadline=None)
@given(moments)
def test_twitter_format_agrees_with_python(moment: datetime) -> None:
    names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    written = f"{moment:Sun} {names[moment.month - 1]} {moment:%d %H:%M:%S} +0000 {moment.year}"
    expected = moment.replace(microsecond=0, tzinfo=UTC)
    assert parse_times(pl.Series([written])).to_list() == [expected]


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=40))))
def test_any_text_is_a_time_or_null(cells: list[str | None]) -> None:
    series = pl.Series(
        [c and c.encode("utf-8", "replace").decode() for c in cells], dtype=pl.String
    )
    assert len(parse_times(series)) == len(cells)


@settings(deadline=None)
@given(st.integers(10**14, 2**63 - 1))
def test_snowflakes_agree_with_python(number: int) -> None:
    ms = (number >> 22) + TWITTER_EPOCH_MS
    read = snowflake_times(pl.Series([str(number)])).dt.epoch("ms").to_list()
    assert read == [ms if ms < 4_102_444_800_000 else None]


def test_other_ids_are_no_snowflakes() -> None:
    ids = pl.Series(["12345", "99999999999999", "m17", "9" * 19, " 407124578246270976", None])
    assert snowflake_times(ids).null_count() == len(ids)
