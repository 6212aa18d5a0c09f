"""Targets lie evenly, and every class gets the one that suits it."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from eventide.losses.contrastive.k_positive import class_targets, energy, matched
from eventide.tensors import unit_rows


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("classes", "width"), [(2, 1), (3, 2), (5, 4), (7, 256), (28, 40)])
def test_up_to_width_plus_one_targets_are_a_regular_simplex(classes, width):
    targets = class_targets(classes, width, generator=generator())
    assert targets.shape == (classes, width)
    expected = torch.full((classes, classes), -1 / (classes - 1), dtype=torch.float64)
    torch.testing.assert_close(targets @ targets.T, expected.fill_diagonal_(1.0))


@pytest.mark.parametrize(("classes", "width"), [(4, 2), (12, 3), (30, 8)])
def test_more_targets_have_low_energy(classes, width):
    targets = class_targets(classes, width, generator=generator())
    torch.testing.assert_close(targets.norm(dim=1), torch.ones(classes, dtype=torch.float64))
    chance = [
        energy(unit_rows(torch.randn(classes, width, dtype=torch.float64, generator=generator(s))))
        for s in range(1, 200)
    ]
    assert energy(targets) < min(chance)


@pytest.mark.parametrize("seed", range(5))
def test_more_targets_are_spread_until_the_energy_falls_no_more(seed):
    """Against plain gradient descent that goes on for long from where they are."""
    classes, width = 12, 3
    targets = class_targets(classes, width, generator=generator(seed))
    vectors = targets.clone().requires_grad_()
    for _ in range(3000):
        (slope,) = torch.autograd.grad(energy(unit_rows(vectors)), vectors)
        with torch.no_grad():
            vectors -= 0.05 * slope
    assert energy(targets) - energy(unit_rows(vectors.detach())) < 1e-7
    # and twelve points on a sphere are an icosahedron, whose energy is known
    golden = (1 + 5**0.5) / 2
    signs = [(a, b * golden) for a in (1, -1) for b in (1, -1)]
    corners = [each for a, b in signs for each in ((0, a, b), (a, b, 0), (b, 0, a))]
    best = energy(unit_rows(torch.tensor(corners, dtype=torch.float64)))
    assert abs(energy(targets) - best) < 1e-7


def test_four_targets_in_the_plane_are_a_square():
    targets = class_targets(4, 2, generator=generator())
    cosines = (targets @ targets.T).sort(dim=1).values
    expected = torch.tensor([-1.0, 0.0, 0.0, 1.0], dtype=torch.float64).expand(4, 4)
    torch.testing.assert_close(cosines, expected, atol=1e-4, rtol=0)


def test_the_seed_decides():
    first, again, other = (class_targets(5, 9, generator=generator(s)) for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_matching_has_the_largest_total_cosine():
    targets = class_targets(5, 8, generator=generator())
    centroids = torch.randn(5, 8, dtype=torch.float64, generator=generator(3)) * 4
    similarity = unit_rows(centroids) @ targets.T
    chosen = matched(centroids, targets)
    assert sorted(chosen.tolist()) == list(range(5))
    total = similarity[torch.arange(5), chosen].sum()
    best = max(
        sum(similarity[c, t] for c, t in enumerate(order)) for order in permutations(range(5))
    )
    assert total == pytest.approx(best.item())
    shuffled = torch.tensor([3, 0, 4, 1, 2])
    assert matched(targets[shuffled] * 7, targets).tolist() == shuffled.tolist()
