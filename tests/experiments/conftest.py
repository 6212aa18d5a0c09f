"""A small comparison that several files look at, run once."""

import pytest

from eventide.experiments import choose, compare

QUICK = {"encoder": "tfidf-svd:16", "split": "proportional", "workers": 1}
EPOCHS = {"training.epochs": 2, "network.layers": (16, 16), "network.head_hidden": 16}


@pytest.fixture(scope="session")
def quick():
    """What makes a comparison quick: give it to ``compare``."""
    return QUICK | {"changes": EPOCHS}


@pytest.fixture(scope="session")
def compared(small_sample, quick, tmp_path_factory):
    """Two methods on two seeds."""
    out = tmp_path_factory.mktemp("compared")
    return compare(small_sample, choose("ce,ucl-ec").variants, range(2), out=out, **quick)
