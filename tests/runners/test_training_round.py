"""Steps that share one run of the hidden layers, kept or computed again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from eventide.graphs.incidence import Incidence
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.settings import NetworkSettings
from eventide.runners import training_round
from eventide.runners.training_round import Round, evaluated

TIMES = [0, 1, 1, 3, 4, 7, 7, 9]
SETS = {
    "hashtag": [["a"], ["a", "b"], ["b"], [], ["a", "c"], ["c"], ["a"], ["b", "c"]],
    "user": [["x"], [], ["x"], ["y"], ["y", "x"], ["x"], ["y"], []],
}
BATCHES = [np.array([0, 4, 2]), np.array([7, 1, 1]), np.array([3, 5, 6])]
LAYERS = [(4, 3), (4, 5, 3)]
GAPS = [None, 0, 2]


def features() -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32))


def network(layers, **settings) -> MultiViewNetwork:
    chosen = NetworkSettings(
        layers=layers, evidence="softplus", residual=True, head_hidden=5, **settings
    )
    return MultiViewNetwork(features=6, classes=3, views=list(SETS), settings=chosen, seed=3)


def graphs(gap=None):
    around = {view: BucketedNeighbourhood(Incidence.of(sets), TIMES) for view, sets in SETS.items()}
    return around if gap is None else {view: each.earlier(gap) for view, each in around.items()}


def loss(outputs) -> torch.Tensor:
    return sum(each.evidence.square().sum() for each in outputs.values())


def hidden_gradients(net) -> list[torch.Tensor | None]:
    below = net.encoder.layers[:-1]
    return [None if p.grad is None else p.grad.clone() for p in below.parameters()]


def run_round(net, around, budget):
    """The losses of a round, and the gradients of the hidden layers when it has ended."""
    shared = Round(net, features(), around, np.concatenate(BATCHES), budget)
    losses = []
    for number, batch in enumerate(BATCHES, start=1):
        net.zero_grad(set_to_none=True)
        outputs = net.forward_shared(shared.read(batch, last=number == len(BATCHES)))
        losses.append(loss(outputs))
        losses[-1].backward()
        learned = [each is not None for each in hidden_gradients(net)]
        assert all(learned) if number == len(BATCHES) else not any(learned)
    return torch.stack(losses).detach(), hidden_gradients(net)


@pytest.mark.parametrize("budget", [0, 1 << 30])
@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("layers", LAYERS)
def test_a_round_gives_hidden_layers_the_mean_of_what_each_step_would(layers, gap, budget):
    net, around = network(layers), graphs(gap)
    alone, wanted = [], []
    for batch in BATCHES:
        net.zero_grad(set_to_none=True)
        each = loss(net(features(), around, torch.from_numpy(batch)))
        each.backward()
        alone.append(each.detach())
        wanted.append(hidden_gradients(net))
    losses, got = run_round(net, around, budget)
    torch.testing.assert_close(losses, torch.stack(alone), rtol=1e-4, atol=1e-5)
    for mine, *others in zip(got, *wanted, strict=True):
        torch.testing.assert_close(mine, torch.stack(others).mean(dim=0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layers", LAYERS)
def test_what_is_computed_again_has_the_masks_of_the_first_time(layers):
    found, masks = [], []
    for budget in (0, 1 << 30):
        net = network(layers, dropout=0.5, head_dropout=0.5).train()
        found.append(run_round(net, graphs(), budget))
        masks.append(net.noise.state)
    (losses, got), (kept_losses, kept) = found
    assert torch.equal(losses, kept_losses)
    for mine, other in zip(got, kept, strict=True):
        torch.testing.assert_close(mine, other)
        assert mine.abs().sum() > 0
    assert torch.equal(*masks)  # and the next round draws others


def test_a_frozen_encoder_learns_nothing_and_the_heads_do():
    net = network((4, 3))
    net.train_only("classifier")
    shared = Round(net, features(), graphs(), BATCHES[0], 0)
    loss(net.forward_shared(shared.read(BATCHES[0], last=True))).backward()
    assert all(p.grad is None for p in net.encoder.parameters())
    assert all(p.grad is not None for p in net.heads.parameters())


@pytest.mark.parametrize("rows", [[6, 0, 1, 7, 5, 2, 3], [0, 0, 3, 4], [0, 2, 3, 4, 6, 7]])
@pytest.mark.parametrize("layers", [*LAYERS, (3, 3), (4, 3, 3)])
def test_messages_are_evaluated_some_at_a_time(layers, rows, monkeypatch):
    """Where they are in order, in the place of their averages."""
    monkeypatch.setattr(training_round, "AT_ONCE", 3)
    net, around, rows = network(layers).eval(), graphs(), np.array(rows)
    whole = net(features(), around, torch.from_numpy(rows))
    for view, each in evaluated(net, features(), around, rows).items():
        torch.testing.assert_close(each.embeddings, whole[view].embeddings)
        torch.testing.assert_close(each.logits, whole[view].logits)
        assert not each.logits.requires_grad
