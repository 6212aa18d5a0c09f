"""The stream benchmark: order of time, hidden labels, what counts as right."""

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest

from eventide.corpus.messages import read_messages
from eventide.errors import InputError
from eventide.experiments.stream import difference_interval, run_stream, stream_messages
from eventide.experiments.stream_grouping import StreamGrouping
from eventide.reports.stream_figure import draw_stream


@pytest.fixture(scope="module")
def frame(small_sample):
    return stream_messages(read_messages(small_sample, entities="rules").messages, 30, seed=0)


SIMPLE = ("lr-daily", "nearest-centroid", "nearest-in-time", "single-pass")


def test_messages_come_in_order_of_time(frame):
    assert frame["created_at"].is_sorted()
    assert frame.group_by("event").len()["len"].max() <= 30


def test_simple_contestants_run_and_are_scored(frame, tmp_path):
    results = run_stream(frame, SIMPLE, start=0.5, budget=3, encoder="tfidf-svd:8")
    for each in results:
        told = each.summary()
        assert 0 <= told["low"] <= told["accuracy"] <= told["high"] <= 1
        assert each.total("messages") == len(frame) - round(0.5 * len(frame))
        assert all(day.labels == min(3, day.messages) for day in each.days)
        assert sum(each.right) == each.total("right")
    never = next(each for each in results if each.name == "nearest-in-time")
    assert never.summary()["recall_new"] == 0
    draw_stream(results, tmp_path / "stream.png")
    assert (tmp_path / "stream.png").stat().st_size > 5_000


def test_groups_of_new_events_are_counted():
    """Two events come on one day; one is grouped whole, of the other too little is called new."""
    texts = ["bridge under water in halvmar", "ballots are counted in caldora"]
    events = ["flood"] * 4 + ["vote"] * 4
    frame = pl.DataFrame(
        {
            "id": [str(at) for at in range(8)],
            "text": [f"{texts[at // 4]} {'abcdefgh'[at]}" for at in range(8)],
            "created_at": [datetime(2024, 3, 1, tzinfo=UTC)] * 8,
            "user": [None] * 8,
        },
        schema_overrides={"user": pl.String},
    )
    vectors = np.repeat(np.eye(2), 4, axis=0)
    called, perhaps = np.array([True] * 4 + [False] * 4), np.array([False] * 7 + [True])
    grouping = StreamGrouping()
    grouping.add(frame, vectors, called, perhaps, events, np.zeros(8, dtype=bool))
    assert grouping.events["flood"].grouped
    assert grouping.events["flood"].half == 4
    assert grouping.events["vote"].share == 0
    assert grouping.purity == 1


def test_the_difference_of_two_contestants_has_an_interval(frame):
    one, other = run_stream(frame, SIMPLE[:2], start=0.5, budget=3, encoder="tfidf-svd:8")
    gain, low, high = difference_interval(one, other)
    assert low <= gain <= high
    assert gain == pytest.approx(one.summary()["accuracy"] - other.summary()["accuracy"])


def test_until_its_first_label_new_is_right():
    """One event is there at the start; another comes, and is new until it was labelled."""
    rows = [
        {"id": str(at), "text": text, "created_at": f"2024-03-{1 + at // 4:02d}", "event": event}
        for at, (text, event) in enumerate(
            [("fire on the ridge", "fire"), ("ballots are counted", "vote")] * 4
            + [("bridge under water", "flood")] * 8
        )
    ]
    frame = stream_messages(read_messages(rows, entities="none").messages, None, seed=0)
    (told,) = run_stream(frame, ["single-pass"], start=0.5, budget=1, encoder="tfidf-svd:8")
    first, second = told.days
    assert (first.new, second.known) == (4, 4)
    assert first.right == first.found_new


def test_the_network_takes_part(frame):
    few = frame.filter(pl.int_range(pl.len()) % 3 == 0)
    last = few["created_at"].dt.date().unique().sort()[-2:]
    start = 1 - few["created_at"].dt.date().is_in(last.to_list()).mean()
    (told,) = run_stream(few, ["ucl-ec+cb"], start=start, encoder="tfidf-svd:8", epochs=1)
    assert told.days
    assert np.isfinite(told.summary()["seconds_a_day"])


def test_a_stream_needs_two_events_at_the_start(frame):
    with pytest.raises(InputError, match="begin later"):
        run_stream(frame.head(3).with_columns(event=pl.lit("one")), SIMPLE)
    with pytest.raises(InputError, match="no contestant"):
        run_stream(frame, ["nobody"], start=0.5, encoder="tfidf-svd:8")
