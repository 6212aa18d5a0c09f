"""Read small graphs both ways: by sparse entries and by dense rectangles."""

from __future__ import annotations

import pytest

import eventide.graphs.exact.gather_schedule as plan
import eventide.graphs.memory as memory


@pytest.fixture(params=["sparse", "dense"], scope="module")
def kernel(request: pytest.FixtureRequest):
    before = plan.DENSE_ENTRIES, plan.DENSE_TIMES
    plan.DENSE_ENTRIES, plan.DENSE_TIMES = (1, 1) if request.param == "dense" else (2**60, 1)
    yield request.param
    plan.DENSE_ENTRIES, plan.DENSE_TIMES = before


@pytest.fixture(params=["planned", "one by one"], scope="module")
def looking(request: pytest.FixtureRequest):
    """Look new messages up both ways, whatever their number."""
    before = memory.SMALL_BATCH
    memory.SMALL_BATCH = 0 if request.param == "planned" else 2**60
    yield request.param
    memory.SMALL_BATCH = before
