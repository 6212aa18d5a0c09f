from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.graphs.exact.kept_sums import profile_time_bytes
from eventide.graphs.incidence import Incidence
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from generated_graphs import cases, close

pytestmark = pytest.mark.usefixtures("kernel")


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(["all", "some", "most"]))
def test_both_paths_agree_with_explicit_edges(case, which):
    random, count = np.random.default_rng(case.seed), len(case.sets)
    rows = {
        "all": None,
        "some": torch.from_numpy(random.integers(0, count, 4)),  # some of them twice
        "most": torch.from_numpy(random.permutation(count)[: -(-count // 2)]),
    }[which]
    values = case.values(torch.float64)
    rates = case.rates(torch.float64, None if rows is None else len(rows)).requires_grad_()
    explicit = ExplicitNeighbourhood(case.incidence, case.times).constant(values)
    wanted = explicit.average(rates, rows)
    (slope,) = torch.autograd.grad(wanted.square().sum(), rates)
    for budget in (0, 1 << 30):
        around = BucketedNeighbourhood(case.incidence, case.times, case.most, case.rare, budget)
        got = around.constant(values).average(rates, rows)
        close(got, wanted, 1e-10)
        close(
            torch.autograd.grad(got.square().sum(), rates)[0], slope, 1e-10, least=1e-2 * case.span
        )


def test_the_budget_decides_what_is_stored():
    sets = [[f"b{row % 7}", f"c{row % 5}"] for row in range(200)]
    times, values = np.arange(200) % 20, torch.ones(200, 8)
    incidence = Incidence.of(sets)
    around = BucketedNeighbourhood(incidence, times)
    needed = profile_time_bytes(around.bucket_index, values)
    met = {
        (row % 35, other % 20)
        for row in range(35)
        for other in range(200)
        if row % 7 == other % 7 or row % 5 == other % 5
    }
    assert needed == len(met) * 8 * 4
    assert around.constant(values).stored_bytes == needed
    tight = BucketedNeighbourhood(incidence, times, memory_budget=needed - 1)
    assert tight.constant(values).stored_bytes < needed
