"""Timelines: every message is counted once, whatever the span."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.reports.html.timeline import MOST_STEPS, timeline


@pytest.mark.parametrize(
    ("last", "unit"),
    [
        ("2024-03-31", "day"),
        ("2025-03-01", "week"),
        ("2028-01-01", "month"),
        ("2060-01-01", "year"),
    ],
)
def test_a_longer_span_has_longer_steps(last, unit):
    days = np.array(["2024-03-01", last, "NaT"], "datetime64[D]")
    found = timeline(days, np.array([0, 1, 0]), 2)
    assert (found.unit, found.undated) == (unit, 1)
    assert len(found.labels) <= MOST_STEPS
    assert found.counts.sum() == 2
    assert found.counts[0, 0] == found.counts[1, -1] == 1
    assert found.labels[0] <= "2024-03-01"
    assert found.labels[-1] <= last


@given(st.lists(st.tuples(st.integers(-400, 400), st.integers(0, 3)), min_size=1))
def test_counts_are_those_of_a_plain_loop(pairs):
    days = np.array([day for day, _ in pairs], "datetime64[D]")
    event = np.array([own for _, own in pairs])
    found = timeline(days, event, 4)
    assert found.counts.sum() == len(pairs)
    assert found.counts.sum(axis=1).tolist() == [int((event == k).sum()) for k in range(4)]
