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
def test_old_sums_put_right_agree_with_explicit_edges(case):
    count = len(case.sets)
    some = np.random.default_rng(case.seed).permutation(count)[: -(-count // 3)]
    rows, values = torch.from_numpy(some), case.values(torch.float64)
    own = case.values(torch.float64, len(rows)).mul(2).requires_grad_()
    rates = case.rates(torch.float64, len(rows)).requires_grad_()
    found = []
    for around in (
        BucketedNeighbourhood(case.incidence, case.times, case.most, case.rare),
        ExplicitNeighbourhood(case.incidence, case.times),
    ):
        out = around.stale(values).average(own, rates, rows)
        found.append((out, *torch.autograd.grad(out.square().sum(), (own, rates))))
    for got, wanted in zip(*found, strict=True):
        close(got, wanted, 1e-10, least=1e-2 * case.span)


@settings(max_examples=20, deadline=None)
@given(cases())
def test_values_that_are_not_old_give_the_average_itself(case):
    around = BucketedNeighbourhood(case.incidence, case.times, case.most, case.rare)
    values, rates = case.values(torch.float64), case.rates(torch.float64)
    everybody = torch.arange(len(case.sets))
    got = around.stale(torch.zeros_like(values)).average(values, rates, everybody)
    close(got, around.average(values, rates), 1e-10)
