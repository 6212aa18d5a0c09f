"""Every loss of the long-tail methods against plain loops: values and gradients to 1e-9."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles_long_tail as naive
from eventide.losses.classification import ldam, ldam_margins, logit_adjusted, sigmoid_focal
from eventide.losses.contrastive.k_positive import (
    k_positive_contrastive,
    next_of_class,
    targeted_contrastive,
)
from eventide.losses.contrastive.robust import robust_contrastive
from eventide.losses.contrastive.supervised import balanced_contrastive, supervised_contrastive
from eventide.losses.reduction import mean_of_classes
from oracles import assert_same, random

BATCHES = {
    "all classes, sorted": (4, [0, 0, 0, 1, 1, 2, 3, 3]),
    "all classes, unsorted": (4, [3, 0, 2, 0, 1, 3, 1, 0]),
    "classes absent": (6, [5, 2, 2, 5, 0]),
    "one class": (4, [2, 2, 2, 2]),
    "one message": (3, [1]),
    "each class once": (5, [4, 0, 3, 1, 2]),
    "100 classes": (100, [97, 3, 41, 3, 99, 0, 41, 3, 12, 97]),
    "more than six of a class": (2, [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0]),
}
every_batch = pytest.mark.parametrize(("classes", "labels"), BATCHES.values(), ids=BATCHES)
WIDTH = 5


def sizes(classes: int) -> list[int]:
    return [3 + 7 * c % 50 for c in range(classes)]


@every_batch
@pytest.mark.parametrize("focus", [0.0, 1.0, 2.5])
def test_focal(classes, labels, focus):
    logits = random(len(labels), classes, seed=1, scale=2)
    fast = sigmoid_focal(logits, torch.tensor(labels), focus)
    assert_same(fast, naive.focal(logits, labels, focus), [logits])


@every_batch
def test_ldam(classes, labels):
    cosines, counts = random(len(labels), classes, seed=2, scale=0.3), sizes(classes)
    fast = ldam(30 * cosines, torch.tensor(labels), torch.tensor(counts), 30.0, 0.5)
    assert_same(fast, naive.ldam(cosines, labels, counts, 0.5, 30.0), [cosines])


@every_batch
@pytest.mark.parametrize("strength", [1.0, 0.4])
def test_logit_adjusted(classes, labels, strength):
    logits, counts = random(len(labels), classes, seed=3), sizes(classes)
    fast = logit_adjusted(logits, torch.tensor(labels), torch.tensor(counts), strength)
    assert_same(fast, naive.logit_adjusted(logits, labels, counts, strength), [logits])


def test_logit_adjustment_leaves_out_a_class_without_training_messages():
    logits, counts = random(2, 3, seed=3), [4, 0, 6]
    fast = logit_adjusted(logits, torch.tensor([2, 0]), torch.tensor(counts))
    assert_same(fast, naive.logit_adjusted(logits, [2, 0], counts, 1.0), [logits])


@every_batch
def test_balanced(classes, labels):
    z, centres = random(len(labels), WIDTH, seed=4), random(classes, WIDTH, seed=5)
    fast = balanced_contrastive(z, torch.tensor(labels), centres, 0.07)
    assert_same(fast, naive.balanced(z, labels, centres, 0.07), [z, centres])


@every_batch
def test_robust(classes, labels):
    z, centroids = random(len(labels), WIDTH, seed=6), random(classes, WIDTH, seed=7)
    radii = random(classes, seed=8)
    assert (radii < 0).any() or classes < 5
    fast = robust_contrastive(z, torch.tensor(labels), centroids, radii)
    assert_same(fast, naive.robust(z, labels, centroids, radii), [z, centroids, radii])


@every_batch
@pytest.mark.parametrize("count", [1, 2, 6])
def test_k_positive(classes, labels, count):
    z = random(len(labels), WIDTH, seed=9)
    fast = k_positive_contrastive(z, torch.tensor(labels), count, 0.07)
    assert_same(fast, naive.k_positive(z, labels, count, 0.07), [z])


@every_batch
@pytest.mark.parametrize("count", [1, 6])
def test_targeted(classes, labels, count):
    z, targets = random(len(labels), WIDTH, seed=10), random(classes, WIDTH, seed=11)
    fast = targeted_contrastive(z, torch.tensor(labels), targets, count, 0.07, 0.2)
    assert_same(fast, naive.targeted(z, labels, targets, count, 0.07, 0.2), [z, targets])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(1, 7), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_any_batch(labels, count, seed):
    z, others = random(len(labels), 3, seed=seed), random(4, 3, seed=seed + 1)
    radii, y = random(4, seed=seed + 2), torch.tensor(labels)
    assert_same(
        targeted_contrastive(z, y, others, count, 0.5),
        naive.targeted(z, labels, others, count, 0.5, 0.2),
        [z, others],
    )
    assert_same(
        balanced_contrastive(z, y, others, 0.5), naive.balanced(z, labels, others, 0.5), [z, others]
    )
    assert_same(
        robust_contrastive(z, y, others, radii),
        naive.robust(z, labels, others, radii),
        [z, others, radii],
    )


@given(st.permutations(range(8)))
@settings(max_examples=20, deadline=None)
def test_a_message_keeps_its_value_wherever_it_stands(order):
    labels = torch.tensor([0, 0, 1, 2, 2, 2, 4, 1])
    z, others, radii = random(8, 3, seed=0), random(5, 3, seed=1), random(5, seed=2)
    for loss in (
        lambda z, y: robust_contrastive(z, y, others, radii),
        lambda z, y: balanced_contrastive(z, y, others),
        lambda z, y: k_positive_contrastive(z, y, 6),
        lambda z, y: targeted_contrastive(z, y, others, 6),
    ):
        torch.testing.assert_close(loss(z[order], labels[order]), loss(z, labels)[order])


def test_enough_positives_make_plain_supervised_contrast():
    z, labels = random(9, WIDTH, seed=0), torch.tensor([0, 1, 0, 0, 1, 2, 0, 1, 0])
    torch.testing.assert_close(
        k_positive_contrastive(z, labels, 9, 0.1), supervised_contrastive(z, labels, 0.1)
    )


def test_positives_are_spread_evenly_and_never_more_than_asked():
    labels = torch.tensor([0] * 20 + [1] * 3)[torch.randperm(23, generator=torch.Generator())]
    chosen = next_of_class(labels, 6)
    assert (labels.unsqueeze(0) == labels.unsqueeze(1))[chosen].all()
    assert not chosen.diagonal().any()
    assert chosen.sum(dim=1).tolist() == [6 if y == 0 else 2 for y in labels]
    assert chosen.sum(dim=0).tolist() == [6 if y == 0 else 2 for y in labels]


def test_extreme_inputs_stay_finite():
    logits = torch.tensor([[-200.0, 200.0], [1e4, -1e4]], requires_grad=True)
    values = sigmoid_focal(logits, torch.tensor([0, 0]), 1.0)
    values.sum().backward()
    assert values.tolist() == pytest.approx([400, 0])
    assert torch.isfinite(logits.grad).all()
    # A centroid may coincide with a message, and a message may be the zero vector.
    z = torch.zeros(3, 2, requires_grad=True)
    for value in (
        robust_contrastive(z, torch.tensor([0, 1, 1]), torch.zeros(2, 2), torch.ones(2)),
        balanced_contrastive(z, torch.tensor([0, 1, 1]), torch.zeros(2, 2)),
        targeted_contrastive(z, torch.tensor([0, 1, 1]), torch.eye(2)),
    ):
        assert torch.isfinite(value).all()
        assert torch.isfinite(torch.autograd.grad(value.sum(), z)[0]).all()


def test_half_precision_embeddings_are_widened():
    z, labels = random(6, 4, seed=0).detach(), torch.tensor([0, 1, 0, 1, 2, 0])
    half = z.bfloat16()
    for loss in (
        lambda z: balanced_contrastive(z, labels, torch.eye(4)[:3]),
        lambda z: targeted_contrastive(z, labels, torch.eye(4)[:3]),
        lambda z: robust_contrastive(z, labels, torch.eye(4)[:3], torch.ones(3)),
    ):
        assert loss(half).dtype == torch.float32
        torch.testing.assert_close(loss(half), loss(half.float()))


def test_margins_grow_with_rarity():
    margins = ldam_margins(torch.tensor([1000, 10, 160]))
    assert margins.max().item() == 0.5
    assert margins[1] / margins[2] == pytest.approx(2)


def test_the_mean_of_classes_weighs_them_alike():
    values, labels = torch.tensor([1.0, 5.0, 3.0]), torch.tensor([7, 2, 7])
    assert mean_of_classes(values, labels).item() == 3.5
    assert math.isclose(mean_of_classes(values, torch.tensor([0, 0, 0])).item(), 3.0)
