"""TAM: the classes around a message against a plain walk over its neighbours; when margins act."""

import numpy as np
import pytest
import torch

from eventide.losses.classification import logit_adjusted
from eventide.losses.topology_margins import class_sharpness, topology_margins
from eventide.methods.long_tail.tam import MarginOutput, TopologyRunner, margined_error
from eventide.model import EventClassifier
from objective_steps import inputs_of

FAST = {"encoder": "tfidf-svd:16", "training__batch_size": 64}


@pytest.fixture(scope="module")
def fitted(small_sample):
    return EventClassifier(method="tam", training__epochs=7, **FAST).fit(small_sample)


def test_the_classes_around_a_message_are_those_of_its_neighbours(fitted):
    runner = fitted.method_.runner
    assert isinstance(runner, TopologyRunner)
    labels = runner.labels.numpy()
    found = runner.neighbour_shares()
    outputs = runner.evaluate(np.arange(len(labels)))
    logits = sum(each.logits for each in outputs.values()).double()
    counts = torch.bincount(runner.labels[runner.labels >= 0])
    said = (logits * class_sharpness(counts)).softmax(dim=1).numpy()
    for row, label in enumerate(labels):
        if label >= 0:
            said[row] = np.eye(said.shape[1])[label]
    incidences = fitted.memory_.incidences
    for row in range(0, len(labels), 23):
        expected = np.zeros(said.shape[1])
        for each in incidences.values():
            elements = [
                set(each.elements[start:stop].tolist())
                for start, stop in zip(each.pointers[:-1], each.pointers[1:], strict=True)
            ]
            near = [
                other
                for other in range(len(labels))
                if other == row or elements[other] & elements[row]
            ]
            expected += said[near].mean(axis=0) / len(incidences)
        np.testing.assert_allclose(found[row].numpy(), expected, atol=1e-5)


def test_margins_are_made_once_an_epoch_and_join_after_warm_up(fitted):
    method, runner = fitted.method_, fitted.method_.runner
    rows = np.flatnonzero(runner.labels.numpy() >= 0)[::9]
    shares, labels = runner.neighbour_shares(), runner.labels
    known = labels >= 0
    margins = torch.zeros_like(shares)
    margins[known] = topology_margins(shares[known], labels[known], shares.shape[1]).float()
    outputs = runner.learn(rows)
    assert all(isinstance(each, MarginOutput) for each in outputs.values())
    first = next(iter(outputs.values()))
    torch.testing.assert_close(first.margins, margins[rows])
    kept = runner._margins
    runner.learn(rows)
    assert runner._margins is kept
    runner.evaluate(rows)
    assert runner._margins is None
    counts = method.objective.counts
    for epoch, added in ((5, 0.0), (6, margins[rows])):
        inputs = inputs_of(method.objective, outputs, labels[rows], epoch)
        expected = logit_adjusted(inputs.logits + added, labels[rows], counts)
        torch.testing.assert_close(margined_error(inputs), expected)
    runner.rest()


def test_it_learns(small_sample, fitted):
    assert fitted.score(small_sample.filter(split="test")) > 0.6
    assert all(np.isfinite(row["error"]) for row in fitted.history_)
