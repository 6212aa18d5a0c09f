"""Class uncertainty out of sample: an epoch measures the classes on messages it did not train on."""

import numpy as np
import pytest
import torch

from eventide.losses.class_state import START
from eventide.methods.ucl import UclEc
from eventide.runners.graph_runner import GraphRunner
from eventide.settings import resolve

QUICK = {"training.batch_size": 64, "network.layers": (12, 10), "network.head_hidden": 8}


def fitted(training_set, monkeypatch, **changes):
    """Fit UCL-EC; return it and the rows that each epoch learned from."""
    seen = [set()]
    learn, evaluate = GraphRunner.learn, GraphRunner.evaluate

    def watched(self, rows, **options):
        seen[-1].update(rows.tolist())
        return learn(self, rows, **options)

    def ended(self, rows):
        if seen[-1]:
            seen.append(set())
        return evaluate(self, rows)

    monkeypatch.setattr(GraphRunner, "learn", watched)
    monkeypatch.setattr(GraphRunner, "evaluate", ended)
    settings = resolve(
        UclEc.defaults, QUICK, {f"training.{name}": each for name, each in changes.items()}
    )
    method = UclEc(settings, seed=0)
    method.fit(training_set, lambda _: None, None)
    return method, [rows for rows in seen if rows]


def test_every_epoch_leaves_another_fold_out(small_training_set, monkeypatch):
    everybody = set(small_training_set.training_rows.tolist())
    _, epochs = fitted(small_training_set, monkeypatch, epochs=3, folds=3)
    left_out = [everybody - learned for learned in epochs]
    assert len(epochs) == 3
    assert set.union(*left_out) == everybody
    assert sum(map(len, left_out)) == len(everybody)
    labels = small_training_set.labels
    whole = np.bincount(labels[list(everybody)])
    for rows in left_out:
        assert np.abs(np.bincount(labels[list(rows)], minlength=len(whole)) - whole / 3).max() < 1


def test_without_folds_every_epoch_learns_from_everybody(small_training_set, monkeypatch):
    for folds in (0, 1):
        _, epochs = fitted(small_training_set, monkeypatch, epochs=2, folds=folds)
        assert epochs == [set(small_training_set.training_rows.tolist())] * 2


@pytest.mark.parametrize("folds", [2, 40])
def test_a_class_is_measured_on_what_was_left_out(small_training_set, monkeypatch, folds):
    method, (learned,) = fitted(small_training_set, monkeypatch, epochs=1, folds=folds)
    rows, labels = small_training_set.training_rows, small_training_set.labels
    summary = method.objective.read(method.runner.evaluate(rows)).summary
    expected, wrong = [], []
    for each in range(small_training_set.classes):
        own = [k for k, row in enumerate(rows) if labels[row] == each and row not in learned]
        uncertain = [float(summary.uncertainty[k]) for k in own]
        missed = [float(summary.predicted[k] != each) for k in own]
        expected.append(sum(uncertain) / len(own) if own else START)
        wrong.append(sum(missed) / len(own) if own else START)
    assert torch.allclose(method.objective.uncertainty, torch.tensor(expected).double(), atol=1e-6)
    assert torch.allclose(method.objective.error_rate, torch.tensor(wrong).double(), atol=1e-6)
