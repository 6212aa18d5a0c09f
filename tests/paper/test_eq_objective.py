"""eq_error, eq_euc, eq_common, eq_total, +CB and the ablation switches against loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import beta as beta_function

import oracles
from eventide.data.long_tail import long_tail_sizes
from eventide.losses.agreement import view_agreement
from eventide.losses.class_state import ClassStatistics
from eventide.losses.evidence_calibration import (
    annealing,
    misleading_divergence,
    uncertainty_calibration,
)
from eventide.losses.evidential import evidential_error
from eventide.losses.reduction import class_balanced_weights
from eventide.losses.settings import ABLATIONS, LossSettings, ablation
from eventide.networks.multi_view import ViewOutput
from eventide.networks.settings import NetworkSettings
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion
from objective_steps import loss_of, paper_objective, prototypes_of
from oracles import assert_same, random

amounts = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
batches = st.tuples(st.integers(1, 4), st.integers(2, 5)).flatmap(
    lambda shape: st.tuples(
        st.lists(amounts, min_size=math.prod(shape), max_size=math.prod(shape)).map(
            lambda flat: torch.tensor(flat, dtype=torch.float64).reshape(shape)
        ),
        st.lists(st.integers(0, shape[1] - 1), min_size=shape[0], max_size=shape[0]),
    )
)


@given(batches)
@settings(max_examples=40, deadline=None)
def test_error(batch):
    evidence, labels = batch[0].requires_grad_(), batch[1]
    fast = evidential_error(Opinion.from_evidence(evidence), torch.tensor(labels))
    assert_same(fast, oracles.error(evidence, labels), [evidence])


@pytest.mark.parametrize("evidence", [(0.0, 0.0), (1.5, 0.2), (0.3, 6.0)])
def test_error_is_the_printed_integral(evidence):
    first, second = evidence[0] + 1, evidence[1] + 1

    def integrand(p: float) -> float:
        density = p ** (first - 1) * (1 - p) ** (second - 1) / beta_function(first, second)
        return -np.log(p) * density

    integral = quad(integrand, 0, 1, epsabs=1e-12, epsrel=1e-12)[0]
    ours = evidential_error(
        Opinion.from_evidence(torch.tensor([evidence], dtype=torch.float64)), torch.tensor([0])
    )
    assert ours.item() == pytest.approx(integral, abs=1e-9)


@given(batches, st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_euc(batch, epoch):
    evidence, labels = batch[0].requires_grad_(), batch[1]
    truth = torch.tensor(labels)
    fast = annealing(epoch) * uncertainty_calibration(Opinion.from_evidence(evidence), truth)
    naive = oracles.euc(evidence, labels, min(1.0, epoch / 25))
    # The textbook divergence itself is only good to rounding of its largest term.
    torch.testing.assert_close(fast, naive.clamp(min=0), rtol=1e-9, atol=1e-8)
    ours, theirs = (torch.autograd.grad(v.sum(), evidence)[0] for v in (fast, naive))
    torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


def test_no_evidence_at_all_counts_as_wrong_for_every_class():
    opinion = Opinion.from_evidence(torch.zeros(3, 3))
    values = uncertainty_calibration(opinion, torch.tensor([0, 1, 2]))
    assert values.tolist() == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("batch", "width", "views"), [(5, 3, 3), (4, 6, 2), (12, 2, 3), (9, 2, 4), (5, 3, 1)]
)
def test_common(batch, width, views):
    z = [random(batch, width, seed=view) for view in range(views)]
    fast, naive = view_agreement(z).mean(), oracles.common(z)
    torch.testing.assert_close(fast, naive, rtol=1e-9, atol=1e-9)
    if views > 1:
        assert_same(fast, naive, z)


def test_common_has_one_value_per_message_in_both_forms():
    z = [random(13, 2, seed=view) for view in range(3)]
    rows = []
    for i in range(13):
        row = torch.tensor(0.0, dtype=torch.float64)
        for one, other in itertools.combinations(z, 2):
            for j in range(13):
                gap = oracles.cosine(one[i], one[j]) - oracles.cosine(other[i], other[j])
                row = row + gap**2
        rows.append(row / 13)
    assert_same(view_agreement(z), torch.stack(rows), z)
    wide = [torch.cat([view, torch.zeros(13, 11, dtype=torch.float64)], dim=1) for view in z]
    assert_same(view_agreement(wide), torch.stack(rows), z)


@pytest.fixture
def batch():
    """Three views of seven messages: embeddings, logits, labels, class statistics."""
    labels = [0, 1, 1, 2, 3, 0, 2]
    views = ["hashtag", "entity", "user"]
    z = {view: random(7, 4, seed=seed) for seed, view in enumerate(views)}
    logits = {view: random(7, 4, seed=seed + 9, scale=3) for seed, view in enumerate(views)}
    statistics = ClassStatistics(
        counts=torch.tensor([900, 40, 7, 1]),
        uncertainty=torch.tensor([0.1, 0.7, 0.3, 0.9], dtype=torch.float64),
        error_rate=torch.tensor([0.2, 0.5, 0.0, 1.0], dtype=torch.float64),
    )
    return labels, z, logits, statistics


def total_by_loops(choice: LossSettings, batch, prototypes, epoch: int) -> torch.Tensor:
    labels, z, logits, statistics = batch
    evidence = []
    for i in range(len(labels)):
        masses = None
        for view in logits.values():
            single = oracles.opinion(torch.relu(view[i]))
            masses = single if masses is None else oracles.dempster_pair(masses, single)[0]
        belief, uncertainty = masses
        evidence.append(torch.stack([b * 4 / uncertainty for b in belief]))
    evidence = torch.stack(evidence)
    counts = statistics.counts.tolist()
    total = torch.tensor(0.0, dtype=torch.float64)
    raw = [(1 - 0.9999) / (1 - 0.9999**n) for n in counts]
    for i, value in enumerate(oracles.error(evidence, labels)):
        weight = raw[labels[i]] * 4 / sum(raw) if choice.class_balanced else 1.0
        total = total + weight * value / len(labels)
    if choice.calibration == "euc":
        total = total + oracles.euc(evidence, labels, min(1, epoch / 25)).mean()
    beta = 0.1
    margins = {
        "none": [0.0] * 4,
        "fixed": [beta] * 4,
        "error_rate": [beta * r for r in statistics.error_rate.tolist()],
        "uncertainty": [beta * u for u in statistics.uncertainty.tolist()],
        "frequency": [beta * (min(counts) / n) ** 0.25 for n in counts],
    }[choice.margin]
    for view in z:
        total = total + 0.1 * oracles.ucl(z[view], prototypes[view], labels, margins).mean()
    return total + 0.5 * oracles.common(list(z.values()))


@pytest.mark.parametrize("centroids", [False, True])
@pytest.mark.parametrize("name", ABLATIONS)
def test_total_of_every_ablation(name, centroids, batch):
    labels, z, logits, statistics = batch
    choice = ablation(name, centroids=centroids)
    counts = statistics.counts
    objective = paper_objective(counts, views=list(z), width=4, settings=choice, seed=5)
    prototypes_of(objective).double()
    truth = torch.tensor(labels)
    prototypes_of(objective).refresh(z, truth)
    outputs = {v: ViewOutput(z[v], logits[v], NetworkSettings()) for v in z}
    total, log = loss_of(objective, outputs, truth, 7, statistics)
    prototypes = {view: prototypes_of(objective).of(view) for view in z}
    naive = total_by_loops(choice, batch, prototypes, 7)
    assert_same(total, naive, [*z.values(), *logits.values(), *objective.parameters()])
    weighted = [weight * log[name] for name, weight in objective.weights(7).items()]
    assert log["total"] == pytest.approx(sum(weighted))
    assert ("calibration" in log) == (choice.calibration != "none")
    assert len(list(objective.parameters())) == (0 if centroids else 3)


def test_published_weights_of_the_terms():
    objective = paper_objective(torch.tensor([1, 1]), views=["u", "v"], width=2)
    expected = {"error": 1.0, "calibration": 1.0, "contrastive": 0.1, "agreement": 0.5}
    assert objective.weights(1) == expected
    assert LossSettings().margin_scale == 0.1


def test_etgnn_calibrates_all_messages(batch):
    labels, _, logits, _ = batch
    views = [Opinion.from_evidence(torch.relu(view)) for view in logits.values()]
    fused = fuse(views)
    naive = []
    for i, y in enumerate(labels):
        alpha = list(fused.alpha[i])
        alpha[y] = torch.tensor(1.0, dtype=torch.float64)
        naive.append(oracles.divergence(alpha))
    assert_same(misleading_divergence(fused, torch.tensor(labels)), torch.stack(naive))


def test_class_balanced_weights():
    counts = [900, 40, 7, 1]
    raw = [(1 - 0.9999) / (1 - 0.9999**n) for n in counts]
    expected = [w * 4 / sum(raw) for w in raw]
    assert class_balanced_weights(torch.tensor(counts)).tolist() == pytest.approx(
        expected, rel=1e-9
    )


def test_class_balanced_weights_of_mean_one_over_the_messages():
    counts = [900, 40, 0, 7, 1]
    raw = [(1 - 0.9999) / (1 - 0.9999**n) if n else 0.0 for n in counts]
    whole = sum(counts) / sum(n * w for n, w in zip(counts, raw, strict=True))
    found = class_balanced_weights(torch.tensor(counts), scale="messages").tolist()
    assert found == pytest.approx([whole * w for w in raw], rel=1e-9)
    labels = [c for c, n in enumerate(counts) for _ in range(n)]
    assert sum(found[c] for c in labels) / len(labels) == pytest.approx(1)


def test_annealing():
    assert [annealing(e) for e in (1, 10, 25, 60)] == [1 / 25, 10 / 25, 1.0, 1.0]


def test_long_tail_sizes():
    assert long_tail_sizes(989, 0.5, 7) == [int(989 * 0.5**i) for i in range(7)]
    assert long_tail_sizes(989, 0.5, 7)[-1] == 15  # "maximally 989 and minimally 15 per event"
