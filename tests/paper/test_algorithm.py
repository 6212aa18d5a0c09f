"""Algorithm 1, the lines that belong to networks, opinions and losses."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch

from eventide.graphs.incidence import Incidence
from eventide.graphs.views import PAPER_VIEWS, incidence
from eventide.losses.evidential import evidential_error
from eventide.losses.settings import LossSettings
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.settings import NetworkSettings
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from eventide.training.batches import shuffled_batches
from objective_steps import loss_of, paper_objective, prototypes_of, values_of
from oracles import neighbours, temporal_layer

MESSAGES = pl.DataFrame(
    {
        "hashtags": [["flood"], ["flood", "fire"], [], ["fire"], []],
        "urls": [[], [], ["x.org"], ["x.org"], []],
        "entities": [["Lima"], [], ["Lima"], ["Oslo"], ["Oslo"]],
        "mentions": [[], ["ann"], ["ann"], [], ["bob"]],
    }
)
TIMES, LABELS = [0, 2, 5, 5, 1], torch.tensor([0, 1, 0, 2, 1])
FEATURES = torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def sets_of(view) -> list[list[str]]:
    """A message's elements in one view, each with its column: equal words may differ in kind."""
    return [
        [f"{column}:{element}" for column in view.columns for element in MESSAGES[column][row]]
        for row in range(len(MESSAGES))
    ]


def make_state():
    network = MultiViewNetwork(
        features=6,
        classes=3,
        views=[view.name for view in PAPER_VIEWS],
        settings=NetworkSettings(layers=(4, 4), head_hidden=5, evidence="softplus"),
        seed=1,
    ).double()
    objective = paper_objective(torch.bincount(LABELS), views=network.views, width=4, seed=1)
    graphs = {
        view.name: ExplicitNeighbourhood(incidence(MESSAGES, view), TIMES) for view in PAPER_VIEWS
    }
    return network, objective.double(), graphs


def test_the_three_views_connect_what_shares_an_element():
    assert [view.name for view in PAPER_VIEWS] == ["hashtag", "entity", "user"]
    for view in PAPER_VIEWS:
        graph = ExplicitNeighbourhood(incidence(MESSAGES, view), TIMES)
        weights = graph.average(torch.eye(5), torch.zeros(5))
        for i in range(5):
            assert weights[i].nonzero().flatten().tolist() == neighbours(sets_of(view), i)


def test_initial_state():
    network, objective, _ = make_state()
    assert len(network.heads) == len(PAPER_VIEWS)
    for view in network.views:
        assert prototypes_of(objective).of(view).shape == (3, 4)
    assert objective.statistics.uncertainty.tolist() == [1 - 1e-6] * 3


def test_one_step_line_by_line():
    network, objective, graphs = make_state()
    batch = torch.tensor([3, 0, 1])
    outputs = network(FEATURES, graphs, batch)
    opinions = []
    for view, head in zip(PAPER_VIEWS, network.heads, strict=True):
        states = FEATURES
        for depth, layer in enumerate(network.encoder.layers):
            states = temporal_layer(
                states, layer.transform.weight, layer.rate.weight[0], sets_of(view), TIMES
            )
            states = states if depth == 1 else torch.nn.functional.elu(states)
        output = outputs[view.name]
        torch.testing.assert_close(output.embeddings, states[batch], rtol=1e-9, atol=1e-9)
        hidden = (states[batch] @ head.hidden.weight.T + head.hidden.bias).clamp(min=0)
        logits = hidden @ head.output.weight.T + head.output.bias
        evidence = torch.log1p(logits.exp())
        torch.testing.assert_close(output.evidence, evidence, rtol=1e-9, atol=1e-9)
        opinions.append(Opinion.from_evidence(evidence))
    terms = values_of(objective, outputs, LABELS[batch], epoch=1)
    torch.testing.assert_close(terms["error"], evidential_error(fuse(opinions), LABELS[batch]))


@pytest.mark.parametrize("prototypes", ["learned", "centroids"])
def test_a_step_updates_encoder_heads_and_prototypes(prototypes):
    network, _, graphs = make_state()
    settings = LossSettings(prototypes=prototypes)
    objective = paper_objective(
        torch.bincount(LABELS), views=network.views, width=4, settings=settings, seed=1
    ).double()
    outputs = network(FEATURES, graphs)
    objective.observe(outputs, LABELS, 0)
    parameters = {**dict(network.named_parameters()), **dict(objective.named_parameters())}
    vectors = prototypes_of(objective)
    before = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    fixed = {view: vectors.of(view).detach().clone() for view in network.views}
    optimiser = torch.optim.Adam(parameters.values(), lr=1e-3)
    loss_of(objective, outputs, LABELS, 1)[0].backward()
    optimiser.step()
    for name, parameter in parameters.items():
        assert not torch.equal(parameter, before[name]), name
    for view in network.views:
        changed = not torch.equal(vectors.of(view), fixed[view])
        assert changed == (prototypes == "learned")


def test_views_of_no_element_leave_every_message_to_itself():
    graph = ExplicitNeighbourhood(Incidence.of([[]] * 3), [0, 5, 9])
    torch.testing.assert_close(graph.average(torch.eye(3), torch.ones(3)), torch.eye(3))


def test_an_epoch_sees_every_training_message_once():
    rows = np.array([1, 4, 5, 7, 11])
    first, second = (
        np.concatenate(list(shuffled_batches(rows, rows, 2, seed=0, epoch=epoch)))
        for epoch in (1, 2)
    )
    assert sorted(first) == sorted(second) == rows.tolist()
    assert first.tolist() != second.tolist()


def test_class_uncertainty_is_updated_after_the_epoch_and_not_before():
    network, _, graphs = make_state()
    settings = LossSettings(prototypes="centroids")
    objective = paper_objective(
        torch.bincount(LABELS), views=network.views, width=4, settings=settings
    ).double()
    outputs = network(FEATURES, graphs)
    opinion = objective.read(outputs).fused
    objective.observe(outputs, LABELS, 0)
    assert prototypes_of(objective).of("user").abs().sum() > 0
    assert objective.uncertainty.tolist() == [1 - 1e-6] * 3
    objective.observe(outputs, LABELS, 1)
    expected = [opinion.uncertainty[c == LABELS].mean().item() for c in range(3)]
    assert objective.uncertainty.tolist() == pytest.approx(expected)
