"""Long tails by n_i = n_max * gamma**i."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.data.long_tail import by_size, long_tail_sizes, sample_long_tail
from eventide.errors import BadSetting


def messages(sizes: dict[str, int]) -> pl.DataFrame:
    rows = [(f"{event}{n}", event) for event, size in sizes.items() for n in range(size)]
    return pl.DataFrame([*rows, ("x", None)], schema=["id", "event"], orient="row")


def test_sizes_are_those_of_the_paper():
    assert long_tail_sizes(989, 0.5, 7)[0] / long_tail_sizes(989, 0.5, 7)[-1] == pytest.approx(
        66, 0.01
    )


@given(st.integers(1, 10_000), st.floats(0.01, 1), st.integers(0, 50))
def test_sizes_follow_the_equation(n_max, gamma, classes):
    sizes = long_tail_sizes(n_max, gamma, classes)
    assert len(sizes) == classes
    for index, size in enumerate(sizes):
        assert size >= 1
        assert size == 1 or size <= n_max * gamma**index < size + 1


@pytest.mark.parametrize(
    "bad", [(0, 0.5, 3), (5, 0, 3), (5, 1.5, 3), (5, float("nan"), 3), (5, 0.5, -1)]
)
def test_settings_out_of_range_are_refused(bad):
    with pytest.raises(BadSetting):
        long_tail_sizes(*bad)


def test_larger_events_keep_more_and_small_ones_keep_all():
    sampled = sample_long_tail(messages({"b": 9, "a": 30, "c": 2}), 20, 0.5, seed=3)
    assert by_size(sampled).rows() == [(0, "a", 20), (1, "b", 9), (2, "c", 2)]


def test_the_draw_depends_on_seed_and_not_on_row_order():
    frame = messages({"a": 40, "b": 20})
    one = sample_long_tail(frame, 10, 0.5, seed=1)
    assert set(one["id"]) == set(sample_long_tail(frame.reverse(), 10, 0.5, seed=1)["id"])
    assert set(one["id"]) != set(sample_long_tail(frame, 10, 0.5, seed=2)["id"])
    position = {identity: n for n, identity in enumerate(frame["id"])}
    places = [position[identity] for identity in one["id"]]
    assert places == sorted(places)
