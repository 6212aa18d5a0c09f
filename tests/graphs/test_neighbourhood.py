from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.graphs.incidence import Incidence
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from generated_graphs import Case, cases, close

pytestmark = pytest.mark.usefixtures("kernel")


def build(case: Case) -> tuple[BucketedNeighbourhood, ExplicitNeighbourhood]:
    bucketed = BucketedNeighbourhood(case.incidence, case.times, case.most, case.rare)
    return bucketed, ExplicitNeighbourhood(case.incidence, case.times)


def outcome(around, values, rates, rows, cotangent):
    values, rates = values.clone().requires_grad_(), rates.clone().requires_grad_()
    out = around.average(values, rates, rows)
    gradients = torch.autograd.grad((out * cotangent).sum(), (values, rates))
    return out.detach(), *gradients


@settings(max_examples=120, deadline=None)
@given(cases(), st.booleans(), st.integers(0, 99))
def test_forward_and_gradients_agree_with_explicit_edges(case, some, seed):
    bucketed, explicit = build(case)
    count = len(case.sets)
    rows = torch.from_numpy(np.random.default_rng(seed).integers(0, count, 5)) if some else None
    readers = count if rows is None else 5
    for dtype, forward, backward in ((torch.float64, 1e-10, 1e-10), (torch.float32, 1e-5, 1e-4)):
        values, rates = case.values(dtype), case.rates(dtype, readers)
        cotangent = case.values(dtype, readers)
        got = outcome(bucketed, values, rates, rows, cotangent)
        # the oracle in double precision: single precision cannot tell 1e6 from 1e6 + 0.05
        wanted = outcome(explicit, values.double(), rates.double(), rows, cotangent.double())
        close(got[0], wanted[0], forward)
        close(got[1], wanted[1], backward)
        close(got[2], wanted[2], backward, least=1e-2 * case.span)


@settings(max_examples=60, deadline=None)
@given(cases(), st.booleans(), st.integers(0, 4), st.integers(0, 99))
def test_earlier_neighbours_alone_agree_with_explicit_edges(case, some, gap, seed):
    bucketed = BucketedNeighbourhood(case.incidence, case.times, case.most, case.rare).earlier(gap)
    explicit = ExplicitNeighbourhood(case.incidence, case.times, gap)
    count = len(case.sets)
    rows = torch.from_numpy(np.random.default_rng(seed).integers(0, count, 5)) if some else None
    readers = count if rows is None else 5
    values, rates = case.values(torch.float64), case.rates(torch.float64, readers)
    cotangent = case.values(torch.float64, readers)
    got = outcome(bucketed, values, rates, rows, cotangent)
    wanted = outcome(explicit, values, rates, rows, cotangent)
    close(got[0], wanted[0], 1e-10)
    close(got[1], wanted[1], 1e-10)
    close(got[2], wanted[2], 1e-10, least=1e-2 * case.span)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_neighbour_counts_once(case):
    bucketed, explicit = build(case)
    assert bucketed.bucket_index.edges == len(explicit.targets)
    assert (bucketed.bucket_index.readers.reads.counts.values > 0).all()


@settings(max_examples=25, deadline=None)
@given(cases())
def test_gradcheck(case):
    bucketed, _ = build(case)
    rates = case.rates(torch.float64) / case.pace  # finite differences need a gentle slope
    values = case.values(torch.float64).requires_grad_()
    rates = (rates / case.span).requires_grad_()
    assert torch.autograd.gradcheck(bucketed.average, (values, rates))


@pytest.mark.parametrize("rate", [-1e6, -1e3, 0.0, 1e3, 1e6])
def test_no_overflow_at_extreme_rates(rate):
    times = np.array([0, 1, 1_100, 1_100])
    around = BucketedNeighbourhood(Incidence.of([["a"], ["a", "b"], ["b", "a"], ["b"]]), times)
    values = torch.eye(4, requires_grad=True)
    rates = torch.full((4,), rate, requires_grad=True)
    out = around.average(values, rates)
    out.square().sum().backward()
    for result in (out, values.grad, rates.grad):
        assert torch.isfinite(result).all()
    if rate > 0:  # only those of the own time are left
        assert out[0].tolist() == [1, 0, 0, 0]
        assert out[2].tolist() == [0, 0, 0.5, 0.5]
    if rate < 0:  # only the farthest are left
        assert out[0].tolist() == [0, 0, 1, 0]


def test_long_sums_keep_single_precision():
    random = np.random.default_rng(0)
    sets = [
        [f"e{word}" for word in random.choice(6, size=random.integers(1, 6), replace=False)]
        for _ in range(700)
    ]
    times = random.integers(0, 3, len(sets))
    incidence = Incidence.of(sets)
    values = torch.tensor(random.normal(3, 1, size=(len(sets), 4)), dtype=torch.float32)
    rates = torch.tensor(random.normal(size=len(sets)), dtype=torch.float32)
    got = BucketedNeighbourhood(incidence, times).average(values, rates)
    wanted = ExplicitNeighbourhood(incidence, times).average(values.double(), rates.double())
    close(got, wanted, 1e-5)


def test_chunks_change_nothing(monkeypatch):
    case = Case([["a", f"b{row % 4}"] for row in range(40)], np.arange(40) % 5, 0, 6, 2, 1.0)
    values, rates = case.values(torch.float64), case.rates(torch.float64)
    cotangent = case.values(torch.float64)
    whole = outcome(build(case)[0], values, rates, None, cotangent)
    import eventide.graphs.exact.gather_schedule as plan
    import eventide.graphs.neighbourhood as neighbourhood

    monkeypatch.setattr(plan, "KEPT_ENTRIES", 50)
    monkeypatch.setattr(
        neighbourhood,
        "GatherSchedules",
        lambda readers, device, **named: plan.GatherSchedules(readers, device, 37, **named),
    )
    for got, wanted in zip(
        outcome(build(case)[0], values, rates, None, cotangent), whole, strict=True
    ):
        close(got, wanted, 1e-12)


def test_no_messages():
    around = BucketedNeighbourhood(Incidence.of([]), [])
    assert around.average(torch.zeros(0, 2), torch.zeros(0)).shape == (0, 2)
