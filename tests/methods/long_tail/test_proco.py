"""ProCo: which means it uses when, that the loss is the printed one, and that it learns."""

import math

import torch

from eventide.losses.contrastive.von_mises_fisher import expected_contrast
from eventide.methods.long_tail.proco import PROJECTED, ExpectedContrast, ProCo
from eventide.model import EventClassifier
from eventide.networks.multi_view import MultiViewNetwork, ViewOutput
from eventide.settings import preset, resolve
from objective_steps import inputs_of, values_of

COUNTS = torch.tensor([6, 3, 1])
LABELS = torch.tensor([0, 1, 0, 0, 1])
VIEWS = ("u", "v")


def made():
    method = ProCo(resolve(preset("default"), {"network.layers": (7, 6)}), seed=0)
    network = MultiViewNetwork(
        features=3, classes=3, views=VIEWS, settings=method.settings.network, seed=0
    )
    return method.make_objective(network, COUNTS), network


def outputs_of(network, seed):
    generator = torch.Generator().manual_seed(seed)
    made = {}
    for view, head in zip(VIEWS, network.heads, strict=True):
        embeddings = torch.randn(len(LABELS), 6, generator=generator)
        made[view] = ViewOutput(embeddings, head(embeddings), network.settings)
    return made


def directions(contrast, outputs, view):
    projected = contrast.projectors[view](list(outputs.values())[view].embeddings)
    return (projected / projected.norm(dim=1, keepdim=True)).double().detach()


def test_means_are_those_of_the_last_epoch_and_this_one_so_far():
    objective, network = made()
    contrast = objective.terms["contrastive"].loss
    start = contrast.means[0].clone()
    torch.testing.assert_close(start.norm(dim=2), torch.full((2, 3), 0.9).double())
    batches = [outputs_of(network, seed) for seed in range(4)]
    for each, epoch in zip(batches, (1, 1, 2, 3), strict=True):
        contrast(inputs_of(objective, each, LABELS, epoch))
        assert contrast.means.shape == (2, 2, 3, PROJECTED)
        # What is used at this point, from the batches themselves.
        used = {1: batches[:2], 2: batches[:3], 3: batches[2:]}[epoch]
        if each is batches[0]:
            used = batches[:1]
        for view in range(2):
            points = torch.cat([directions(contrast, one, view) for one in used])
            labels = LABELS.repeat(len(used))
            for event in (0, 1):
                torch.testing.assert_close(
                    contrast.means[0, view, event], points[labels == event].mean(dim=0)
                )
            torch.testing.assert_close(contrast.means[0, view, 2], start[view, 2])


def test_the_loss_is_the_printed_one():
    objective, network = made()
    outputs = outputs_of(network, 5)
    values = values_of(objective, outputs, LABELS, 1)["contrastive"]
    contrast = objective.terms["contrastive"].loss
    for i, label in enumerate(LABELS.tolist()):
        expected = 0.0
        for view in range(2):
            z = directions(contrast, outputs, view)[i : i + 1]
            ratios = expected_contrast(z, contrast.means[0, view], 0.1)[0].exp().tolist()
            shares = [count / 10 * ratio for count, ratio in zip((6, 3, 1), ratios, strict=True)]
            expected -= math.log(shares[label] / sum(shares))
        assert abs(values[i].item() - expected) < 1e-4
    values.sum().backward()
    moved = contrast.projectors[0].hidden.weight.grad
    assert bool(moved.isfinite().all())
    assert bool((moved != 0).any())


def test_the_means_are_kept_in_a_checkpoint():
    objective, network = made()
    objective.terms["contrastive"].loss(
        inputs_of(objective, outputs_of(network, 0), LABELS, epoch=4)
    )
    other, _ = made()
    other.load_state_dict(objective.state_dict())
    copied = other.terms["contrastive"].loss
    assert isinstance(copied, ExpectedContrast)
    assert int(copied.epoch) == 4
    assert copied.seen[0].tolist() == [3.0, 2.0, 0.0]


def test_it_learns(small_sample):
    model = EventClassifier(
        method="proco", training__epochs=12, training__batch_size=64, encoder="tfidf-svd:16"
    ).fit(small_sample)
    assert model.score(small_sample.filter(split="test")) > 0.6
