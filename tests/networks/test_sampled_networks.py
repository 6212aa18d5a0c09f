"""Layers of the graph baselines against plain loops over messages and their neighbours."""

import math

import numpy as np
import torch

from eventide.graphs.sampled.edge_blocks import SampledGraph
from eventide.graphs.sampled.neighbour_sampler import Sample
from eventide.networks.sampled_networks import (
    SLOPE,
    FusedGraphs,
    GraphAttention,
    GraphConvolution,
    MixedConvolution,
    TwoGraphs,
    ViewMix,
)

NEIGHBOURS = {0: [1, 2, 3], 1: [0], 2: [], 3: [0, 2]}


def generator():
    return torch.Generator().manual_seed(5)


def block_of(kinds=1):
    """The block of the messages 3, 0, 2; kinds are random numbers, 1 for oneself."""
    pointers = np.cumsum([0, *(len(each) for each in NEIGHBOURS.values())])
    sources = np.concatenate([np.array(each, dtype=np.int64) for each in NEIGHBOURS.values()])
    weights = np.random.default_rng(2).random((len(sources), kinds)).astype("f4")
    weight = {}
    for i, start in enumerate(pointers[:-1]):
        weight[i, i] = np.ones(kinds)
        for place, j in enumerate(NEIGHBOURS[i]):
            weight[i, j] = weights[start + place]
    block, rows = SampledGraph(Sample(pointers, sources), weights).block(np.array([3, 0, 2]))
    return block, rows, weight


def reads(i):
    return [i, *NEIGHBOURS[i]]


def states(width):
    return torch.randn(4, width, generator=generator(), requires_grad=True)


def test_attention_with_residual_is_what_plain_loops_give():
    layer = GraphAttention(5, 2, 3, activation=True, generator=generator())
    block, rows, _ = block_of()
    h = states(5)
    fast = layer(h[torch.from_numpy(rows)], block)

    expected = []
    for i in (3, 0, 2):
        heads = []
        for head in range(2):
            weight = layer.project.weight[head * 3 : head * 3 + 3]
            z = {j: weight @ h[j] for j in reads(i)}
            scores = {}
            for j in reads(i):
                score = layer.source_score[head] @ z[j] + layer.reader_score[head] @ z[i]
                scores[j] = torch.exp(score if score > 0 else SLOPE * score)
            total = sum(scores.values())
            heads.append(z[i] + sum(scores[j] / total * z[j] for j in reads(i)))
        out = torch.cat(heads)
        expected.append(torch.stack([x if x > 0 else torch.exp(x) - 1 for x in out]))
    naive = torch.stack(expected)
    torch.testing.assert_close(fast, naive)
    parameters = [h, *layer.parameters()]
    for ours, theirs in zip(
        torch.autograd.grad(fast.square().sum(), parameters),
        torch.autograd.grad(naive.square().sum(), parameters),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def convolved(linear, h, i, weight, relu):
    total = sum(weight[i, j] for j in reads(i))
    mean = sum(weight[i, j] / total * h[j] for j in reads(i))
    out = linear.weight @ mean + linear.bias
    return out.clamp(min=0) if relu else out


def test_convolution_over_mixed_views_narrow_and_wide():
    for outputs in (3, 9):
        mix = ViewMix(2)
        with torch.no_grad():
            mix.logits.copy_(torch.tensor([0.3, -1.2]))
        layer = MixedConvolution(
            mix, GraphConvolution(6, outputs, activation=True, generator=generator())
        )
        block, rows, kinds = block_of(2)
        h = states(6)
        fast = layer(h[torch.from_numpy(rows)], block)
        scale = [1 / (1 + math.exp(-0.3)), 1 / (1 + math.exp(1.2))]
        weight = {pair: scale[0] * each[0] + scale[1] * each[1] for pair, each in kinds.items()}
        naive = [convolved(layer.convolution.linear, h, i, weight, True) for i in (3, 0, 2)]
        torch.testing.assert_close(fast, torch.stack(naive))
        fast.sum().backward()
        assert mix.logits.grad.abs().sum() > 0  # the views' weights learn


def test_two_graphs_are_fused_in_the_context_of_each_message():
    width, block_rows = 4, (3, 0, 2)
    first = TwoGraphs(6, width, generator=generator())
    last = FusedGraphs(6, width, generator=generator())
    block, rows, kinds = block_of(3)
    h = states(6)
    semantic, temporal, context = ({p: k[n] for p, k in kinds.items()} for n in range(3))

    middle = first(h[torch.from_numpy(rows)], block)
    for place, i in enumerate(block_rows):
        total = sum(context[i, j] for j in reads(i))
        parts = [
            convolved(first.semantic.linear, h, i, semantic, True),
            convolved(first.temporal.linear, h, i, temporal, True),
            sum(context[i, j] / total * h[j] for j in reads(i)),
        ]
        torch.testing.assert_close(middle[place], torch.cat(parts))

    # the last layer, on made-up states of all messages
    states_of = torch.randn(4, 2 * width + 6, generator=generator())
    fused = last(states_of[torch.from_numpy(rows)], block)
    for place, i in enumerate(block_rows):
        z = [
            convolved(last.semantic.linear, states_of[:, :width], i, semantic, False),
            convolved(last.temporal.linear, states_of[:, width : 2 * width], i, temporal, False),
        ]
        c = last.map_context.weight @ states_of[i, 2 * width :]
        scores = torch.stack(
            [last.query.weight[0] @ torch.tanh(last.map_state(each) + c) for each in z]
        )
        share = torch.softmax(scores, dim=0)
        torch.testing.assert_close(fused[place], share[0] * z[0] + share[1] * z[1])
