"""Opinions do not depend on how many messages are predicted at a time."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from eventide import EventClassifier
from eventide.model.opinion_chunks import chunked_opinions


@pytest.fixture(scope="module")
def model(small_sample):
    return EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(small_sample)


def test_chunks_change_no_opinion(model, small_sample):
    """Messages of the memory among new ones too: each chunk may hold both."""
    changed = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.col("id") + "-new")
    mixed = small_sample.with_columns(id=changed.otherwise(pl.col("id"))).head(60)
    frame = model.intake(mixed).messages
    match = model.inference.match(frame)
    whole = chunked_opinions(model, frame, match)
    parts = chunked_opinions(model, frame, match, chunk=7)
    assert_frame_equal(parts, whole, abs_tol=1e-6, rel_tol=0)


def test_no_message_has_no_opinion(model, small_sample):
    frame = model.intake(small_sample.head(2)).messages.clear()
    found = chunked_opinions(model, frame, model.inference.match(frame))
    assert len(found) == 0
    assert "verdict" in found.columns
