"""gnn_generic, attention, eq_temGnn: the encoder against loops over messages."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from eventide.graphs.incidence import Incidence
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.networks.encoder import SharedEncoder
from eventide.networks.initialisation import Noise
from eventide.networks.settings import NetworkSettings, TimeDecay
from eventide.networks.temporal_attention import TemporalAttention
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from oracles import assert_same, attention, neighbours, random, temporal_layer

SETS = [["a"], ["a", "b"], ["b", "a"], [], ["c"], ["b", "c"]]
TIMES = [0, 3, 3, 1, 9, 4]


KINDS = pytest.mark.parametrize("kind", [ExplicitNeighbourhood, BucketedNeighbourhood])


def make_layer(inputs: int, outputs: int, time_decay: TimeDecay = "free") -> TemporalAttention:
    generator = torch.Generator().manual_seed(1)
    return TemporalAttention(inputs, outputs, time_decay=time_decay, generator=generator).double()


@KINDS
@given(
    messages=st.lists(
        st.tuples(st.lists(st.sampled_from("abcd"), max_size=3), st.integers(0, 9)),
        min_size=1,
        max_size=6,
    ),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_attention(kind, messages, seed):
    sets, times = [list(m[0]) for m in messages], [m[1] for m in messages]
    rates = random(len(sets), seed=seed)
    identity = torch.eye(len(sets), dtype=torch.float64)
    weights = kind(Incidence.of(sets), times).average(identity, rates)
    expected = []
    for i in range(len(sets)):
        around = neighbours(sets, i)
        row = dict(zip(around, attention(rates[i], times, i, around), strict=True))
        zero = 0 * rates[i]
        expected.append(torch.stack([row.get(j, zero) for j in range(len(sets))]))
    assert_same(weights, torch.stack(expected), [rates])


def test_rate_is_a_linear_map_of_the_transformed_state():
    layer, states = make_layer(4, 3), random(6, 4, seed=0)
    w, fc = layer.transform.weight, layer.rate.weight
    naive = torch.stack([fc[0] @ (w @ state) for state in states])
    assert_same(layer.rates(states), naive, [states, w, fc])


def test_attention_can_be_kept_from_growing_with_distance():
    """A departure from the print: softplus of the same linear map, both ways it is computed."""
    layer, states = make_layer(4, 3, "positive"), random(6, 4, seed=0)
    w, fc = layer.transform.weight, layer.rate.weight
    naive = torch.stack([torch.log1p((fc[0] @ (w @ state)).exp()) for state in states])
    assert (naive > 0).all()
    assert_same(layer.rates(states), naive, [states, w, fc])
    assert_same(layer.project(states).rates, naive, [states, w, fc])


@pytest.mark.parametrize("start", [1e-3, 0.05, 1.0, 900.0])
def test_time_decay_begins_at_the_initial_rate(start):
    """Of a state that the linear map makes nothing of, whatever its weights."""
    generator = torch.Generator().manual_seed(1)
    decaying = {"time_decay": "positive", "initial_rate": start}
    layer = TemporalAttention(4, 3, **decaying, generator=generator).double()
    nothing = torch.zeros(2, 4, dtype=torch.float64)
    for rates in (layer.rates(nothing), layer.project(nothing).rates):
        assert rates.tolist() == pytest.approx([start, start])


@KINDS
def test_temporal_layer(kind):
    layer, states, graph = make_layer(4, 3), random(6, 4, seed=0), kind(Incidence.of(SETS), TIMES)
    fast = layer(states, lambda rates: graph.average(states, rates))
    w, fc = layer.transform.weight, layer.rate.weight
    naive = temporal_layer(states, w, fc[0], SETS, TIMES)
    assert_same(fast, naive, [states, w, fc])


@pytest.mark.parametrize("widths", [(3,), (3, 2), (3, 4, 2)])
@pytest.mark.parametrize("final", ["none", "elu"])
def test_layers_repeat_and_only_the_wanted_rows_are_returned(widths, final):
    options = NetworkSettings(layers=widths, final_activation=final)
    encoder = SharedEncoder(
        5, options, generator=torch.Generator().manual_seed(2), noise=Noise(0)
    ).double()
    features, rows = random(6, 5, seed=3).detach(), torch.tensor([4, 0, 2])
    fast = encoder(features, ExplicitNeighbourhood(Incidence.of(SETS), TIMES), rows)
    states = features
    for depth, layer in enumerate(encoder.layers, start=1):
        states = temporal_layer(states, layer.transform.weight, layer.rate.weight[0], SETS, TIMES)
        if depth < len(widths) or final == "elu":
            states = functional.elu(states)
    assert_same(fast, states[rows], list(encoder.parameters()))
