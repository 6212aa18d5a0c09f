"""Algorithm 1: it learns, it repeats itself, and no label but a training message's moves a weight."""

import numpy as np
import polars as pl
import pytest
import torch

from eventide.classifier import EventClassifier

QUICK = {"training__epochs": 3, "training__batch_size": 64, "encoder": "tfidf-svd:32"}


def weights(model):
    return model.method_.state()


def same(first, second):
    return all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("method", ["ucl", "ucl-ec"])
def test_the_same_seed_gives_the_same_weights(small_sample, method):
    runs = [EventClassifier(method=method, **QUICK).fit(small_sample) for _ in range(2)]
    assert same(weights(runs[0]), weights(runs[1]))
    other = EventClassifier(method=method, seed=1, **QUICK).fit(small_sample)
    assert not same(weights(runs[0]), weights(other))


def test_it_learns(small_sample):
    model = EventClassifier(**(QUICK | {"training__epochs": 25})).fit(small_sample)
    assert model.history_[-1]["total"] < model.history_[0]["total"]
    test = small_sample.filter(pl.col("split") == "test")
    assert model.score(test) > 0.6


def test_every_figure_of_every_epoch_is_finite_and_named(small_sample):
    model = EventClassifier(**QUICK).fit(small_sample)
    for number, row in enumerate(model.history_, start=1):
        assert row["epoch"] == number
        assert {"error", "calibration", "contrastive", "agreement", "total"} <= set(row)
        assert np.isfinite(list(row.values())).all()


def test_labels_of_validation_and_test_messages_move_no_weight(small_sample):
    """Validation labels may choose the epoch, so the last epoch's weights are compared."""
    generator = np.random.default_rng(0)
    held_out = small_sample["split"].is_in(["val", "test"]).to_numpy()
    events = small_sample["event"].to_numpy().copy()
    events[held_out] = generator.permutation(events[held_out])
    permuted = small_sample.with_columns(pl.Series("event", events))
    assert not permuted["event"].equals(small_sample["event"])

    one_epoch = QUICK | {"training__epochs": 1}
    states = [
        weights(EventClassifier(**one_epoch).fit(frame)) for frame in (small_sample, permuted)
    ]
    assert same(*states)


def test_it_leaves_the_global_random_state_alone(small_sample):
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    EventClassifier(network__dropout=0.3, **QUICK).fit(small_sample)
    assert torch.equal(before[0], torch.random.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


def test_patience_stops_a_run_that_does_not_improve(small_sample):
    settings = QUICK | {"training__epochs": 50, "training__learning_rate": 1e-9}
    model = EventClassifier(training__patience=2, **settings).fit(small_sample)
    assert len(model.history_) < 50


def test_the_best_epoch_is_kept(small_sample):
    model = EventClassifier(**(QUICK | {"training__epochs": 8})).fit(small_sample)
    best = max(row["validation_accuracy"] for row in model.history_)
    validation = small_sample.filter(pl.col("split") == "val")
    assert model.score(validation) == pytest.approx(best)
