"""The short way in must give what the readers give, or leave the messages to them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from eventide.data import read
from eventide.data.columns import Columns
from eventide.data.plain_messages import plain_messages
from eventide.data.schema import SCHEMA
from eventide.errors import EventideError
from eventide.runtime.threads import FEW

words = st.text(max_size=6) | st.sampled_from(
    ["flood", " a", "'7'", "7.0", "", "nan", "[x", "a'b", "\x00", "\x1c", "\ud800", "tab\t", "5e7"]
)
times = (
    st.datetimes(datetime(1969, 1, 1), datetime(2101, 1, 1))
    | st.datetimes(timezones=st.just(timezone(timedelta(hours=2))))
    | st.datetimes(datetime(1970, 1, 1), datetime(2099, 1, 1)).map(lambda t: f"{t.isoformat()}Z")
    | st.datetimes(datetime(1970, 1, 1), datetime(2099, 1, 1)).map(
        lambda t: f"{t:%Y-%m-%dT%H:%M:%S}.{t.microsecond}+00:00"
    )
    | st.sampled_from(
        ["2013-02-30T00:00:00Z", "2013-06-21T23:59:60Z", "2013-06-21", "1371772800", None, ""]
    )
)
records = st.fixed_dictionaries(
    {"id": words | st.integers(0, 99), "text": words},
    optional={
        "created_at": times,
        "time": times,
        "event": words | st.none() | st.integers(),
        "user": words | st.none(),
        "author": words,
        "hashtags": st.none() | st.lists(words, max_size=3),
        "urls": st.none() | st.lists(words, max_size=2) | words,
        "split": st.sampled_from(["train", "val", "dev", None, "else"]),
        "vector": st.none() | st.just([1.0, 2.0]),
        "other": words,
    },
)


@settings(max_examples=150, deadline=None)
@given(st.lists(records, min_size=1, max_size=3))
def test_plain_messages_are_what_the_readers_make_of_them(source: list[dict[str, Any]]) -> None:
    found = plain_messages(source, Columns())
    if found is not None:
        assert_frame_equal(found, carefully(source))


@settings(max_examples=50, deadline=None)
@given(st.lists(records, min_size=1, max_size=3))
def test_plain_frames_are_what_the_readers_make_of_them(source: list[dict[str, Any]]) -> None:
    try:
        frame = carefully(source)
    except EventideError:
        return
    found = plain_messages(frame, Columns())
    if len(frame) and found is not None:
        assert_frame_equal(found, carefully(frame))


def carefully(source: Any) -> pl.DataFrame:
    """Read without the short way."""
    with patch("eventide.data.intake.plain_messages", return_value=None):
        return read(source).messages


def test_an_ordinary_message_takes_the_short_way() -> None:
    message = {"id": "a-1", "text": "flood", "created_at": "2013-06-21T10:00:00.501+00:00"}
    found = plain_messages([message | {"hashtags": ["calgary"], "user": "ann"}], Columns())
    assert found is not None
    assert found.schema == SCHEMA
    assert found["created_at"].item() == datetime(2013, 6, 21, 10, 0, 0, 501_000, tzinfo=UTC)
    assert plain_messages(found, Columns()) is not None


def test_columns_may_be_mapped() -> None:
    columns = Columns({"text": "said"}, ("places",))
    message = {"id": 1, "said": "x", "text": "y", "time": "2013-06-21T10:00:00Z", "places": ["z"]}
    found = plain_messages([message], columns)
    assert found is not None
    assert found.select("text", "places").row(0) == ("x", ["z"])
    assert_frame_equal(found, read([message], columns={"text": "said"}, lists=["places"]).messages)


@pytest.mark.parametrize(
    "source",
    [
        [],
        [{"id": "1", "text": "a", "time": "2013-06-21T10:00:00Z"}] * 2,
        [{"id_str": "1", "full_text": "a", "user": {"screen_name": "ann"}}],
        [
            {"id": str(number), "text": "a", "time": "2013-06-21T10:00:00Z"}
            for number in range(FEW + 1)
        ],
        "a path",
        None,
    ],
)
def test_everything_else_is_left_to_the_readers(source: Any) -> None:
    assert plain_messages(source, Columns()) is None
