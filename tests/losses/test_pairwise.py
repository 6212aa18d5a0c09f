"""Losses of PP-GCN and KPGNN against plain loops."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eventide.losses.pairwise import (
    bounded_gradient,
    norm_ratio_loss,
    triplet_loss,
    violating_triplets,
)


def random(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()


@given(st.integers(0, 1000))
def test_pair_loss_is_the_textbook_cross_entropy(seed):
    one, two = random(6, 3, seed=seed), random(6, 3, seed=seed + 5000)
    same = [True, False, True, False, False, True]
    fast = norm_ratio_loss(one, two, torch.tensor(same))
    naive = []
    for x, y, alike in zip(one.tolist(), two.tolist(), same, strict=True):
        a, b = math.hypot(*x), math.hypot(*y)
        logit = -math.log(max(a / b, b / a) - 1 + 1e-8)
        chance = 1 / (1 + math.exp(-logit))
        naive.append(-math.log(chance if alike else 1 - chance))
    assert fast.tolist() == pytest.approx(naive)


def test_pair_loss_has_the_slopes_of_its_formula():
    one, two = random(6, 3), random(6, 3, seed=1)
    same = torch.tensor([True, False] * 3)
    assert torch.autograd.gradcheck(lambda *pair: norm_ratio_loss(*pair, same), (one, two))


def test_pairs_of_equal_or_zero_vectors_stay_finite():
    vectors = torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], requires_grad=True)
    others = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    same = torch.tensor([True, True, False, False])
    loss = norm_ratio_loss(bounded_gradient(vectors), others, same)
    loss.mean().backward()
    assert loss.isfinite().all()
    assert vectors.grad.norm() <= 1 + 1e-6


def test_a_small_gradient_passes_as_it_is():
    values = torch.ones(2, requires_grad=True)
    (bounded_gradient(values) * torch.tensor([0.3, -0.4])).sum().backward()
    assert values.grad.tolist() == pytest.approx([0.3, -0.4])


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3), st.floats(0, 8))
def test_triplets_are_all_pairs_with_a_random_violating_negative(seed, classes, margin):
    z = random(12, 2, seed=seed)
    labels = torch.randint(classes, (12,), generator=torch.Generator().manual_seed(seed)).tolist()
    fast = triplet_loss(
        z, torch.tensor(labels), margin=margin, generator=torch.Generator().manual_seed(7)
    )

    def distance(i, j):
        return ((z[i] - z[j]) ** 2).sum()

    pairs = []
    for a in range(12):
        for p in range(a + 1, 12):
            if labels[a] == labels[p]:
                violating = [
                    n
                    for n in range(12)
                    if labels[n] != labels[a] and distance(a, p) - distance(a, n) + margin > 0
                ]
                if violating:
                    pairs.append(
                        (a, p, sorted(violating, key=lambda n, a=a: distance(a, n).item()))
                    )
    draws = torch.rand(len(pairs), generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    values = [
        distance(a, p) - distance(a, found[int(draw * len(found))]) + margin
        for (a, p, found), draw in zip(pairs, draws, strict=True)
    ]
    naive = torch.stack(values) if values else z.sum().unsqueeze(0) * 0
    torch.testing.assert_close(fast, naive)
    ours, theirs = (torch.autograd.grad(each.mean(), z)[0] for each in (fast, naive))
    torch.testing.assert_close(ours, theirs)


def test_every_violating_negative_can_be_drawn_and_no_other():
    points = torch.tensor([[0.0], [1.0], [1.2], [1.4], [1.6], [9.0]])
    distances = (points - points.T).square()
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    drawn = set()
    for seed in range(60):
        generator = torch.Generator().manual_seed(seed)
        anchor, positive, negative = violating_triplets(
            distances, labels, margin=1.0, generator=generator
        )
        first = (anchor == 0) & (positive == 1)
        drawn |= set(negative[first].tolist())
    assert drawn == {2, 3}  # squared distances 1.44 and 1.96 are under 2, 2.56 is not


def test_a_batch_without_triplets_costs_nothing_and_still_has_a_gradient():
    z = random(3, 2)
    loss = triplet_loss(z, torch.tensor([0, 1, 2]), margin=3.0, generator=torch.Generator())
    loss.mean().backward()
    assert loss.tolist() == [0]
    assert z.grad.abs().sum() == 0
