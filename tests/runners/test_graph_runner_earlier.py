"""Trained as used: with gaps, and where a message reads earlier ones alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch

from eventide import EventClassifier, load

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


@pytest.mark.parametrize("setting", [{"training__gaps": [None, 1]}, {"graph__earlier_only": True}])
def test_steps_can_share_hidden_states_of_earlier_neighbours(small_sample, setting):
    runner = EventClassifier(**QUICK, **setting).fit(small_sample).method_.runner
    rows, found = np.arange(7), []
    for steps in ((True,), (False, True)):
        runner.evaluate(rows)  # the next step is a fresh one
        for last in steps:
            outputs = runner.learn(rows, ahead=rows[:0] if last else rows)
            sum(each.logits.square().sum() for each in outputs.values()).backward()
        found.append([each.logits for each in outputs.values()])
    for alone, shared in zip(*found, strict=True):
        torch.testing.assert_close(shared, alone, atol=1e-5, rtol=1e-4)
