"""Trained as used: with gaps, and where a message reads earlier ones alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eventide import EventClassifier, load
from eventide.errors import BadSetting

QUICK = {"method": "ucl-ec", "encoder": "tfidf-svd:8", "training__epochs": 2}


def test_gaps_change_training_and_not_what_is_read_afterwards(small_sample):
    plain = EventClassifier(**QUICK).fit(small_sample)
    spaced = EventClassifier(**QUICK, training__gaps=[None, 2]).fit(small_sample)
    assert plain.history_[0]["total"] != spaced.history_[0]["total"]
    asked = small_sample.head(10)
    neighbours = [each for each in plain.opinions(asked).columns if each.startswith("neighbours_")]
    assert (
        plain.opinions(asked).select(neighbours).equals(spaced.opinions(asked).select(neighbours))
    )


def test_what_comes_later_changes_nothing(small_sample, tmp_path):
    """With ``earlier_only`` an opinion is the same whether later messages are remembered or not."""
    model = EventClassifier(**QUICK, graph__earlier_only=True, protocol="inductive")
    model.fit(small_sample)
    middle = small_sample["created_at"].sort()[len(small_sample) // 2]
    early = small_sample.filter(pl.col("created_at") < middle)
    later = small_sample.filter(pl.col("created_at") >= middle)
    asked = early.head(30).with_columns(id=pl.lit("new-") + pl.col("id"))
    before = model.predict_proba(asked)
    known = [each for each in later["id"] if each in set(model.remembered_["id"])]
    assert model.forget(ids=known) == len(known) > 0
    np.testing.assert_allclose(model.predict_proba(asked), before, atol=1e-6)
    again = load(model.save(tmp_path / "model"))
    np.testing.assert_allclose(again.predict_proba(asked), before, atol=1e-6)
    assert again.explain(asked, "new-" + early["id"][0]).views


def test_stale_neighbours_are_refused(small_sample):
    with pytest.raises(BadSetting, match="layer1_refresh"):
        EventClassifier(**QUICK, training__gaps=[1], training__layer1_refresh=2).fit(small_sample)
