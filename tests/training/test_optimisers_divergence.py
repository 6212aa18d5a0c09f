"""Row 13: training that leaves the finite numbers says so at once and leaves nothing half-done."""

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from eventide.errors import Diverged, InputError
from eventide.model import EventClassifier

QUICK = {"encoder": "tfidf-svd:16", "training__epochs": 30, "training__batch_size": 64}


@pytest.mark.parametrize("method", ["ucl-ec", "ce", "dro-lt", "kpgnn", "word2vec"])
def test_a_wild_learning_rate_is_told_by_epoch_term_and_what_to_try(small_sample, method):
    """Row 13: it used to train on NaN to the end."""
    seen = []
    model = EventClassifier(method=method, training__learning_rate=1e30, **QUICK)
    with pytest.raises(Diverged, match=r"became (nan|-?inf)") as caught:
        model.fit(small_sample, watch=seen.append)
    assert caught.value.where.startswith("epoch ")
    assert "training.learning_rate" in caught.value.next_step
    assert all(np.isfinite(list(row.values())).all() for row in seen)


def test_no_model_and_no_bad_checkpoint_stay_behind(small_sample, tmp_path):
    """Row 13: nothing half-done can be asked or saved; an earlier fit stays as it was."""
    wild = {"training__learning_rate": 1e30, "training__epochs": 5}
    fresh = EventClassifier(**(QUICK | wild))
    with pytest.raises(Diverged):
        fresh.fit(small_sample)
    with pytest.raises(NotFittedError):
        fresh.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    model = EventClassifier(**(QUICK | {"training__epochs": 1})).fit(small_sample)
    before = model.predict_proba(small_sample)
    model.set_params(**wild)
    with pytest.raises(Diverged):
        model.fit(small_sample, checkpoints=tmp_path / "checkpoint")
    np.testing.assert_array_equal(model.predict_proba(small_sample), before)
    assert not list(tmp_path.glob("checkpoint/*"))


@pytest.mark.parametrize("size", [1e38, 1e19])
@pytest.mark.parametrize("encoder", ["precomputed", "precomputed+tfidf-svd:8"])
def test_vectors_too_large_to_be_squared_are_told_before_training(small_sample, size, encoder):
    """Row 13: single precision holds them, but none of their products."""
    vectors = np.random.default_rng(0).normal(size=(len(small_sample), 8)) * 0.1
    vectors[7] = size
    messages = small_sample.with_columns(vector=pl.Series(vectors.tolist()))
    model = EventClassifier(**(QUICK | {"encoder": encoder}))
    with pytest.raises(InputError, match="above 1e\\+18") as caught:
        model.fit(messages)
    assert str(small_sample["id"][7]) in caught.value.where
    assert "scale" in caught.value.next_step


def test_large_vectors_that_can_be_used_are_used(small_sample):
    """Row 13: a limit on what is impossible, not on what is unusual."""
    vectors = np.random.default_rng(0).normal(size=(len(small_sample), 8)) * 1e6
    messages = small_sample.with_columns(vector=pl.Series(vectors.tolist()))
    quick = QUICK | {"encoder": "precomputed", "training__epochs": 1}
    model = EventClassifier(network__feature_normalisation="unit", **quick).fit(messages)
    assert np.isfinite(model.predict_proba(messages)).all()
