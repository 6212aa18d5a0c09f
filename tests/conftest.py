"""Shared fixtures: a small slice of the built-in sample, and the real data beside the checkout."""

import os
from pathlib import Path

# One thread per test process: two processes run side by side, and threads that wait for each other
# on shared cores cost more than they give. Must be set before torch and polars are imported.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")

import polars as pl  # noqa: E402
import pytest  # noqa: E402

from eventide.data.sample import sample  # noqa: E402

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def small_sample() -> pl.DataFrame:
    """About 300 messages of five events of the sample, with its split."""
    messages = sample()
    largest = messages.group_by("event").len().sort("len", "event", descending=True)["event"]
    kept = messages.filter(pl.col("event").is_in(largest[[0, 3, 5, 8, 11]].to_list()))
    return kept.filter(pl.int_range(pl.len()).over("event", "split") < 60)


@pytest.fixture(scope="session")
def crisislex() -> Path:
    """The CrisisLex collection, where it lies beside the checkout."""
    path = SHARED / "data" / "CrisisLex"
    if not path.exists():
        pytest.skip("the CrisisLex collection is not beside the checkout")
    return path
