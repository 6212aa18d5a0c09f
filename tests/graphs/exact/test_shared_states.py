from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from generated_graphs import cases, close

pytestmark = pytest.mark.usefixtures("kernel")


@settings(max_examples=60, deadline=None)
@given(cases())
def test_what_several_steps_send_back_agrees_with_explicit_edges(case):
    count = len(case.sets)
    random = np.random.default_rng(case.seed)
    batches = [torch.from_numpy(random.integers(0, count, -(-count // 3))) for _ in range(3)]
    states = case.values(torch.float64).requires_grad_()
    rates = [case.rates(torch.float64, len(each)).requires_grad_() for each in batches]

    explicit = ExplicitNeighbourhood(case.incidence, case.times)
    outs = [
        explicit.average(states, rate, rows) + states[rows]
        for rows, rate in zip(batches, rates, strict=True)
    ]
    losses = [out.square().sum() for out in outs]
    wanted = torch.autograd.grad(sum(losses), rates, retain_graph=True)
    wanted_states = torch.autograd.grad(sum(losses) / len(losses), states)[0]

    around = BucketedNeighbourhood(case.incidence, case.times, case.most, case.rare)
    shared = around.share(states)
    for number, (rows, rate) in enumerate(zip(batches, rates, strict=True), start=1):
        own, average = shared.read(rows, last=number == len(batches))
        out = average(rate) + own
        close(out, outs[number - 1], 1e-10, least=1e-2 * case.span)
        out.square().sum().backward()
        assert (states.grad is None) is (number < len(batches))
        close(rate.grad, wanted[number - 1], 1e-10, least=1e-2 * case.span)
    close(states.grad, wanted_states, 1e-10, least=1e-2 * case.span)


def test_states_without_weights_get_no_gradient():
    around = BucketedNeighbourhood(*two_messages())
    shared = around.share(torch.ones(2, 3))
    own, average = shared.read(torch.tensor([0]), last=True)
    rates = torch.zeros(1, requires_grad=True)
    (own + average(rates)).sum().backward()
    assert rates.grad is not None


def two_messages():
    from eventide.graphs.incidence import Incidence

    return Incidence.of([["a"], ["a"]]), [0, 1]
