"""Several prototypes per class, against plain loops, and in training."""

from __future__ import annotations

import math

import pytest
import torch

from eventide import EventClassifier
from eventide.errors import BadSetting
from eventide.losses.contrastive.several_prototypes import (
    MOST,
    SOFTNESS,
    SeveralCentroids,
    SeveralLearned,
    soft_maximum,
)
from eventide.networks.multi_view import ViewOutput
from eventide.networks.settings import NetworkSettings
from eventide.runtime.share import Share, shared_by


def output(embeddings: torch.Tensor) -> ViewOutput:
    return ViewOutput(embeddings, torch.zeros(len(embeddings), 2), NetworkSettings())


def two_clusters() -> tuple[torch.Tensor, torch.Tensor]:
    """Class 0 has two directions, 60 and 20 messages; class 1 has one, 10 messages."""
    noise = 0.01 * torch.randn(90, 4, generator=torch.Generator().manual_seed(0))
    rows = torch.cat([torch.eye(4)[:1].repeat(60, 1), torch.eye(4)[1:2].repeat(20, 1)])
    return torch.cat([rows, torch.eye(4)[2:3].repeat(10, 1)]) + noise, torch.tensor(
        [0] * 80 + [1] * 10
    )


def test_the_soft_maximum_in_plain_loops():
    cosines, shares = torch.tensor([0.2, 0.9, -0.4]), torch.tensor([0.5, 0.3, 0.2])
    expected = SOFTNESS * math.log(
        sum(float(s) * math.exp(float(c) / SOFTNESS) for c, s in zip(cosines, shares, strict=True))
    )
    assert float(soft_maximum(cosines, shares)) == pytest.approx(expected, rel=1e-6)


def test_a_spread_class_gets_more_centroids_than_a_small_one():
    embeddings, labels = two_clusters()
    prototypes = SeveralCentroids(["tags"], 2, 4)
    prototypes.refresh({"tags": embeddings}, labels)
    used = (prototypes.shares[0] > 0).sum(dim=1).tolist()
    assert used[0] >= 2
    assert used[1] == 1
    assert prototypes.shares[0].sum(dim=1).tolist() == pytest.approx([1, 1])
    own = prototypes.similarities("tags", output(torch.eye(4)[:3]))
    # Both directions of class 0 are near a prototype of it; one centroid alone would be 0.95 / 0.32.
    assert own[0, 0] > 0.9
    assert own[1, 0] > 0.8
    assert own[2, 1] > 0.99


def test_one_prototype_is_the_cosine_itself():
    embeddings, labels = two_clusters()
    prototypes = SeveralCentroids(["tags"], 2, 4)
    prototypes.refresh({"tags": embeddings[80:]}, labels[80:])
    centre = embeddings[80:].mean(dim=0)
    asked = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    expected = torch.nn.functional.cosine_similarity(asked, centre[None])
    assert float(prototypes.similarities("tags", output(asked))[0, 1]) == pytest.approx(
        float(expected), abs=1e-6
    )


def test_learned_prototypes_are_used_by_size():
    embeddings, labels = two_clusters()
    prototypes = SeveralLearned(["tags"], 2, 4, generator=torch.Generator().manual_seed(0))
    prototypes.refresh({"tags": embeddings}, labels)
    assert (prototypes.shares[0] > 0).sum(dim=1).tolist() == [3, 1]
    assert prototypes.of("tags").shape == (2 * MOST, 4)
    assert prototypes.of("tags").norm(dim=1).tolist() == pytest.approx([1] * 2 * MOST, abs=1e-6)


@pytest.mark.parametrize("source", ["several-centroids", "several-unit"])
def test_in_training(source, small_sample):
    model = EventClassifier(
        method="ucl", encoder="tfidf-svd:8", training__epochs=2, loss__prototypes=source
    ).fit(small_sample)
    assert all(math.isfinite(row["contrastive"]) for row in model.history_)


def test_workers_that_share_the_messages_refuse():
    """Each would cluster its own share, and the workers' prototypes would part unseen."""
    with shared_by(Share(0, 2)), pytest.raises(BadSetting, match="one prototype per class"):
        SeveralCentroids(["tags"], 2, 4)
