"""Row 25: messages without times, and a text of megabytes, from reading to opinions."""

import time

import numpy as np
import polars as pl
import pytest

from eventide import EventClassifier
from eventide.data.sample import sample

QUICK = {"training__epochs": 2, "encoder": "wordllama", "seed": 3}


@pytest.fixture(scope="module")
def messages() -> pl.DataFrame:
    return sample().gather_every(6).drop("split")


def untimed(messages: pl.DataFrame) -> pl.DataFrame:
    return messages.drop("created_at")


@pytest.mark.parametrize("method", ["ucl-ec", "kpgnn", "nearest-in-time"])
def test_without_times_a_model_is_what_it_is_at_one_time(messages, method):
    """Row 25: no time decay, whichever constant stands in."""
    first = pl.lit(0).cast(pl.Datetime("ms", "UTC")).alias("created_at")
    plain = EventClassifier(method=method, **QUICK).fit(untimed(messages))
    constant = EventClassifier(method=method, **QUICK).fit(messages.with_columns(first))
    found = plain.predict_proba(untimed(messages), as_new=True)
    assert np.isfinite(found).all()
    expected = constant.predict_proba(messages.with_columns(first), as_new=True)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_model_with_times_takes_messages_without_as_of_its_latest_day(messages):
    """Row 25: not as of 1970. Neighbours are weighed so; no event is likelier for being recent."""
    model = EventClassifier(**QUICK).fit(messages)
    new = messages.head(30)
    latest = new.with_columns(pl.lit(messages["created_at"].max()).alias("created_at"))
    found, expected = (
        model.opinions(each, as_new=True)["vacuity"].to_numpy() for each in (untimed(new), latest)
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    texts = new["text"].to_list()
    assert model.predict(texts).shape == (30,)
    assert model.predict(pl.Series(texts)).tolist() == model.predict(texts).tolist()


def test_texts_and_labels_are_enough(messages):
    """Row 25: a list of strings and y."""
    model = EventClassifier(**QUICK).fit(messages["text"].to_list(), messages["event"].to_list())
    assert set(model.classes_) == set(messages["event"].drop_nulls())


def test_a_text_of_megabytes_takes_no_time(messages):
    """Row 17: 12 MB took 50 s in training."""
    long = messages.with_row_index().with_columns(
        text=pl.when(pl.col("index") == 7)
        .then(pl.lit("flood in #Calgary @bbc " * 500_000))
        .otherwise("text")
    )
    EventClassifier(**QUICK).fit(messages.gather_every(5))  # whatever has to be loaded first
    started = time.process_time()
    EventClassifier(**QUICK).fit(messages)
    usual, started = time.process_time() - started, time.process_time()
    model = EventClassifier(**QUICK).fit(long.drop("index"))
    assert time.process_time() - started < 2 * usual + 1
    assert len(model.memory_) == len(messages)
