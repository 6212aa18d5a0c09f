"""Shared fixtures: a small slice of the built-in sample, and the real data beside the checkout."""

from pathlib import Path

import polars as pl
import pytest

from eventide.data.sample import sample

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
