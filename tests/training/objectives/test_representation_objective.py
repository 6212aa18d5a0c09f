"""Nearest centroid, written out."""

from __future__ import annotations

import pytest
import torch

from eventide.networks.multi_view import ViewOutput
from eventide.networks.settings import NetworkSettings
from eventide.training.objectives.logit_objective import LogitObjective
from eventide.training.objectives.representation_objective import RepresentationObjective

VIEWS = ("u", "v")


def outputs(messages, seed, settings=None):
    generator = torch.Generator().manual_seed(seed)
    return {
        view: ViewOutput(
            torch.randn(messages, 4, generator=generator),
            torch.randn(messages, 3, generator=generator),
            settings or NetworkSettings(),
        )
        for view in VIEWS
    }


def test_it_reads_by_the_nearest_centroid_of_the_training_messages():
    labels = torch.tensor([2, 0, 1, 0, 2, 1, 0])
    training, new = outputs(7, 0), outputs(5, 1)
    objective = RepresentationObjective(torch.bincount(labels), 0.0, VIEWS, 4)
    objective.observe(training, labels, 1)
    together = torch.zeros(5, 3)
    for view in VIEWS:
        alone = torch.zeros(5, 3)
        for c in range(3):
            members = [z for z, y in zip(training[view].embeddings, labels, strict=True) if y == c]
            centre = sum(members) / len(members)
            for i, z in enumerate(new[view].embeddings):
                alone[i, c] = -((z - centre) ** 2).sum()
        torch.testing.assert_close(objective.read_views(new)[view].logits, alone)
        together += alone
    torch.testing.assert_close(objective.read(new).logits, together)
    assert objective.conflict(new).tolist() == [0] * 5
    truth = torch.tensor([0, 1, 2, 0, 1])
    expected = -torch.log_softmax(together, dim=1)[torch.arange(5), truth].mean()
    assert objective.error(new, truth) == pytest.approx(expected.item())


def test_cosine_classifiers_fuse_by_the_mean_and_linear_ones_by_the_sum():
    objective = LogitObjective(torch.tensor([1, 1, 1]), 0.0)
    linear, cosine = outputs(5, 0), outputs(5, 0, NetworkSettings(classifier="cosine"))
    both = linear["u"].logits + linear["v"].logits
    torch.testing.assert_close(objective.read(linear).logits, both)
    torch.testing.assert_close(objective.read(cosine).logits, both / 2)
