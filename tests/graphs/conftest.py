"""Read small graphs in three ways: sparse entries, dense rectangles, few columns at a time."""

from __future__ import annotations

import pytest

import eventide.graphs.exact.attention as attention
import eventide.graphs.exact.gather_schedule as plan
import eventide.graphs.memory as memory


@pytest.fixture(params=["sparse", "dense", "narrow"], scope="module")
def kernel(request: pytest.FixtureRequest):
    before = plan.DENSE_ENTRIES, plan.DENSE_TIMES
    columns = attention.PART_BYTES, attention.LEAST_COLUMNS
    plan.DENSE_ENTRIES, plan.DENSE_TIMES = (1, 1) if request.param == "dense" else (2**60, 1)
    if request.param == "narrow":
        attention.PART_BYTES, attention.LEAST_COLUMNS = 0, 2
    yield request.param
    plan.DENSE_ENTRIES, plan.DENSE_TIMES = before
    attention.PART_BYTES, attention.LEAST_COLUMNS = columns


@pytest.fixture(params=["planned", "one by one"], scope="module")
def looking(request: pytest.FixtureRequest):
    """Look new messages up both ways, whatever their number."""
    before = memory.SMALL_BATCH
    memory.SMALL_BATCH = 0 if request.param == "planned" else 2**60
    yield request.param
    memory.SMALL_BATCH = before
