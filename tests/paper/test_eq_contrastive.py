"""scl, psc, psc_margin and eq_ucl against loops over messages and classes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.losses import MARGINS
from eventide.losses.class_state import ClassStatistics
from eventide.losses.contrastive.margins import margins_of
from eventide.losses.contrastive.prototypical import (
    EpochCentroids,
    LearnedPrototypes,
    prototype_loss,
)
from eventide.losses.contrastive.supervised import supervised_contrastive
from oracles import assert_same, psc, random, scl, ucl

LABELS = [0, 2, 1, 0, 2, 3]

batches = st.tuples(
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
    st.integers(0, 99),
    st.sampled_from([0.07, 0.5, 1.0]),
)


@given(batches)
@settings(max_examples=30, deadline=None)
def test_scl(batch):
    labels, seed, tau = batch
    z = random(len(labels), 3, seed=seed)
    fast = supervised_contrastive(z, torch.tensor(labels), tau)
    naive = scl(z, labels, tau)
    assert torch.isfinite(torch.autograd.grad(fast.sum(), z, retain_graph=True)[0]).all()
    assert_same(fast, naive, [z])


@given(batches)
@settings(max_examples=30, deadline=None)
def test_psc(batch):
    labels, seed, tau = batch
    z, prototypes = random(len(labels), 3, seed=seed), random(4, 3, seed=seed + 1)
    fast = prototype_loss(z, prototypes, torch.tensor(labels), temperature=tau)
    assert_same(fast, psc(z, prototypes, labels, tau), [z, prototypes])


def test_psc_rewritten_with_margin_zero():
    z, prototypes = random(6, 3, seed=0), random(4, 3, seed=1)
    fast = prototype_loss(z, prototypes, torch.tensor(LABELS), margins=torch.zeros(4))
    assert_same(fast, ucl(z, prototypes, LABELS, [0.0] * 4), [z, prototypes])


@given(batches, st.lists(st.floats(0, 2), min_size=4, max_size=4))
@settings(max_examples=30, deadline=None)
def test_ucl(batch, uncertainty):
    labels, seed, tau = batch
    z, prototypes = random(len(labels), 3, seed=seed), random(4, 3, seed=seed + 1)
    beta = 0.1
    fast = prototype_loss(
        z,
        prototypes,
        torch.tensor(labels),
        margins=beta * torch.tensor(uncertainty, dtype=torch.float64),
        temperature=tau,
    )
    naive = ucl(z, prototypes, labels, [beta * u for u in uncertainty], tau=tau)
    assert_same(fast, naive, [z, prototypes])


def test_a_class_without_training_messages_leaves_the_sum():
    z, prototypes = random(6, 3, seed=0), random(5, 3, seed=1)
    present = torch.tensor([True, True, True, True, False])
    fast = prototype_loss(z, prototypes, torch.tensor(LABELS), present=present)
    assert_same(fast, ucl(z, prototypes, LABELS, [0.0] * 5, absent=[4]), [z, prototypes])


@pytest.mark.parametrize("zero", ["embedding", "prototype"])
def test_a_zero_vector_has_cosine_zero_and_a_finite_gradient(zero):
    z, prototypes = random(6, 3, seed=0), random(4, 3, seed=1)
    with torch.no_grad():
        (z if zero == "embedding" else prototypes)[1] = 0
    fast = prototype_loss(z, prototypes, torch.tensor(LABELS))
    assert_same(fast, ucl(z, prototypes, LABELS, [0.0] * 4))
    for gradient in torch.autograd.grad(fast.sum(), [z, prototypes]):
        assert torch.isfinite(gradient).all()


def test_margins_of_the_ablation():
    statistics = ClassStatistics(
        counts=torch.tensor([16, 1, 0]),
        uncertainty=torch.tensor([0.2, 0.9, 1 - 1e-6], dtype=torch.float64),
        error_rate=torch.tensor([0.5, 0.25, 1.0], dtype=torch.float64),
    )
    expected = {
        "none": [0, 0, 0],
        "fixed": [0.1, 0.1, 0.1],
        "error_rate": [0.05, 0.025, 0.1],
        "uncertainty": [0.02, 0.09, 0.1 - 1e-7],
        "frequency": [0.1 * (1 / 16) ** 0.25, 0.1, 0],
    }
    assert set(expected) == set(MARGINS.names())
    for name, values in expected.items():
        assert margins_of(name, statistics, 0.1).tolist() == pytest.approx(values, abs=1e-12)


def test_learned_prototypes_start_normal_by_seed_and_train():
    make = lambda seed: LearnedPrototypes(  # noqa: E731
        ["u", "v"], 40, 50, generator=torch.Generator().manual_seed(seed)
    )
    prototypes = make(0)
    assert torch.equal(prototypes.of("v"), make(0).of("v"))
    assert not torch.equal(prototypes.of("v"), make(1).of("v"))
    assert abs(prototypes.of("u").std().item() - 1) < 0.05
    assert prototypes.of("u").requires_grad
    assert not prototypes.refreshed_every_epoch


def test_epoch_centroids_are_normalised_means_without_gradient():
    z = {"u": random(6, 3, seed=0), "v": random(6, 3, seed=1)}
    prototypes = EpochCentroids(["u", "v"], 5, 3).double()
    prototypes.refresh(z, torch.tensor(LABELS))
    for view, values in z.items():
        for c in range(5):
            members = [values[i] for i in range(6) if LABELS[i] == c]
            mean = sum(members) / len(members) if members else torch.zeros(3, dtype=torch.float64)
            length = torch.sqrt((mean**2).sum())
            assert_same(prototypes.of(view)[c], mean / length if length > 0 else mean)
        assert not prototypes.of(view).requires_grad
    assert prototypes.refreshed_every_epoch
