"""Where classes should go: directions as far from each other as the space allows (TSC)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from eventide.networks.geometry import unit_rows

STEPS = 500
"""Steps of descent where there are too many classes for a simplex."""


def class_targets(
    classes: int, width: int, *, generator: torch.Generator, temperature: float = 0.07
) -> Tensor:
    """Return ``classes`` unit vectors [C, width] in float64, spread as evenly as possible.

    Up to width + 1 of them are the corners of a regular simplex, turned at random; more minimise
    mean_i log sum_j exp(t_i . t_j / temperature).

    >>> corners = class_targets(3, 8, generator=torch.Generator().manual_seed(0))
    >>> (corners @ corners.T).round(decimals=6).tolist()
    [[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]]
    """
    if classes <= width + 1:
        return _simplex(classes, width, generator)
    start = torch.randn(classes, width, dtype=torch.float64, generator=generator)
    vectors = start.requires_grad_()
    optimiser = torch.optim.Adam([vectors], lr=0.02)
    for _ in range(STEPS):
        optimiser.zero_grad()
        energy(unit_rows(vectors), temperature).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return unit_rows(vectors.detach())


def energy(targets: Tensor, temperature: float = 0.07) -> Tensor:
    """mean_i log sum_j exp(t_i . t_j / temperature): the lower, the more evenly spread."""
    return torch.logsumexp(targets @ targets.T / temperature, dim=1).mean()


def _simplex(classes: int, width: int, generator: torch.Generator) -> Tensor:
    """Corners of a regular simplex: C axes seen from their middle, where they span C - 1."""
    middle = torch.eye(classes, dtype=torch.float64) - 1 / classes
    # Eigenvectors of the projection by eigenvalue: the first is the direction that is lost.
    basis = torch.linalg.eigh(middle).eigenvectors[:, 1:]
    turn = torch.randn(width, classes - 1, dtype=torch.float64, generator=generator)
    return unit_rows(basis @ torch.linalg.qr(turn).Q.T)


def matched(centroids: Tensor, targets: Tensor) -> Tensor:
    """Give every class the target that suits it: the largest total cosine over all classes [C].

    The answer holds for each class (row of ``centroids`` [C, d]) which row of ``targets`` it got.

    >>> matched(torch.tensor([[0.0, 3.0], [1.0, 1.0]]), torch.eye(2)).tolist()
    [1, 0]
    """
    similarity = unit_rows(centroids) @ targets.to(centroids.dtype).T
    cost: NDArray[np.float64] = similarity.detach().double().cpu().numpy()
    _, chosen = linear_sum_assignment(cost, maximize=True)
    return torch.from_numpy(chosen).to(centroids.device)
