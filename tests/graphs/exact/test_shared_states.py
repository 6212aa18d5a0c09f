from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.graphs.incidence import Incidence
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from generated_graphs import cases, close

pytestmark = pytest.mark.usefixtures("kernel")


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([None, 0, 2]))
def test_what_several_steps_send_back_agrees_with_explicit_edges(case, gap):
    count = len(case.sets)
    random = np.random.default_rng(case.seed)
    batches = [random.integers(0, count, -(-count // 3)) for _ in range(3)]
    states = case.values(torch.float64).requires_grad_()
    rates = [case.rates(torch.float64, len(each)).requires_grad_() for each in batches]

    explicit = ExplicitNeighbourhood(case.incidence, case.times, gap=gap)
    outs = [
        explicit.average(states, rate, torch.from_numpy(rows)) + states[rows]
        for rows, rate in zip(batches, rates, strict=True)
    ]
    losses = [out.square().sum() for out in outs]
    wanted = torch.autograd.grad(sum(losses), rates, retain_graph=True)
    wanted_states = torch.autograd.grad(sum(losses) / len(losses), states)[0]

    around = BucketedNeighbourhood(case.incidence, case.times, case.most, case.rare)
    around = around if gap is None else around.earlier(gap)
    shared = around.share(states, np.concatenate(batches))
    source = torch.zeros((), requires_grad=True)
    for number, (rows, rate) in enumerate(zip(batches, rates, strict=True)):
        own, average = shared.read(rows, source)
        out = average(rate) + own
        close(out, outs[number], 1e-10, least=1e-2 * case.span)
        out.square().sum().backward()
        close(rate.grad, wanted[number], 1e-10, least=1e-2 * case.span)
    close(shared.total(), wanted_states, 1e-10, least=1e-2 * case.span)


def test_only_what_the_steps_read_is_kept():
    around = BucketedNeighbourhood(Incidence.of([["a"], ["a"], ["b"], ["b"]]), [0, 1, 0, 1], rare=0)
    shared = around.share(torch.arange(8.0).reshape(4, 2), np.array([1, 1]))
    assert shared.values.tolist() == [[2.0, 3.0]]
    assert sorted(shared.sums.tolist()) == [[0.0, 1.0], [2.0, 3.0]]


def test_steps_without_a_backward_pass_send_nothing_back():
    around = BucketedNeighbourhood(Incidence.of([["a"], ["a"]]), [0, 1])
    shared = around.share(torch.ones(2, 3), np.array([0]))
    with torch.no_grad():
        own, average = shared.read(np.array([0]), torch.zeros(()))
        assert torch.equal(own + average(torch.zeros(1)), torch.full((1, 3), 2.0))
    assert torch.equal(shared.total(), torch.zeros(2, 3))
