"""Contrast with at most k positives, and targets spread evenly over the sphere (TSC)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from eventide.losses.contrastive.supervised import mean_over, same_class, scores_within
from eventide.tensors import unit_rows

STEPS, FLAT = 1000, 1e-11
"""Steps of L-BFGS at most where there are too many classes for a simplex, and the slope that ends
them: energies of 200 classes still fall by 1e-6 after a slope of 1e-9."""


def class_targets(
    classes: int, width: int, *, generator: torch.Generator, temperature: float = 0.07
) -> Tensor:
    """Return ``classes`` unit vectors [C, width] in float64, spread as evenly as possible.

    Up to width + 1 of them are the corners of a regular simplex, rotated at random; more minimise
    mean_i log sum_j exp(t_i . t_j / temperature).

    >>> corners = class_targets(3, 8, generator=torch.Generator().manual_seed(0))
    >>> (corners @ corners.T).round(decimals=6).tolist()
    [[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]]
    """
    if classes <= width + 1:
        return _simplex(classes, width, generator)
    start = torch.randn(classes, width, dtype=torch.float64, generator=generator)
    return unit_rows(_settled(start, temperature))


def energy(targets: Tensor, temperature: float = 0.07) -> Tensor:
    """mean_i log sum_j exp(t_i . t_j / temperature): the lower, the more evenly spread."""
    return torch.logsumexp(targets @ targets.T / temperature, dim=1).mean()


def _settled(start: Tensor, temperature: float) -> Tensor:
    """Move vectors from ``start`` [C, d] until the energy of their directions falls no more."""
    vectors = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [vectors],
        max_iter=STEPS,
        max_eval=2 * STEPS,
        tolerance_grad=FLAT,
        tolerance_change=0.0,
        history_size=20,
        line_search_fn="strong_wolfe",
    )

    def slope() -> float:
        optimiser.zero_grad()
        value = energy(unit_rows(vectors), temperature)
        value.backward()  # type: ignore[no-untyped-call]
        return float(value.detach())

    optimiser.step(slope)  # type: ignore[no-untyped-call]
    return vectors.detach()


def _simplex(classes: int, width: int, generator: torch.Generator) -> Tensor:
    """Corners of a regular simplex: C axes seen from their middle, where they span C - 1."""
    middle = torch.eye(classes, dtype=torch.float64) - 1 / classes
    # Eigenvectors of the projection by eigenvalue: the first is the direction that is lost.
    basis = torch.linalg.eigh(middle).eigenvectors[:, 1:]
    rotation = torch.randn(width, classes - 1, dtype=torch.float64, generator=generator)
    return unit_rows(basis @ torch.linalg.qr(rotation).Q.T)


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


def next_of_class(labels: Tensor, count: int) -> Tensor:
    """Choose for each message the next ``count`` of its class in the batch, going round [B, B].

    Batches are shuffled, so this is a random choice without a random state of its own, in which
    every message is chosen equally often. A smaller class gives all it has.

    >>> next_of_class(torch.tensor([0, 0, 1, 0]), 1).nonzero().tolist()
    [[0, 1], [1, 3], [3, 0]]
    """
    alike = same_class(labels)
    earlier = alike.tril(-1).sum(dim=1)
    size = alike.sum(dim=1) + 1
    steps = (earlier.unsqueeze(0) - earlier.unsqueeze(1)) % size.unsqueeze(1)
    return alike & (steps <= count)


def k_positive_contrastive(
    embeddings: Tensor, labels: Tensor, positives: int = 6, temperature: float = 0.07
) -> Tensor:
    """Supervised contrast (`scl`) with at most k positives per message, one value each [B].

    -mean over chosen positives p of log(exp(s_ip / t) / sum_{k != i} exp(s_ik / t)), s the cosine;
    ``next_of_class`` chooses. A message without a positive in the batch has value 0.
    """
    scores = scores_within(embeddings, temperature)
    missed = torch.logsumexp(scores, dim=1, keepdim=True) - scores
    return mean_over(missed, next_of_class(labels, positives))


def targeted_contrastive(
    embeddings: Tensor,
    labels: Tensor,
    targets: Tensor,
    positives: int = 6,
    temperature: float = 0.07,
    target_weight: float = 0.2,
) -> Tensor:
    """Targeted contrast of TSC, one value per message [B].

    -(sum over chosen p of log(exp(s_ip / t) / Z) + w log(exp(s_i,target / t) / Z)) / (P + 1),

    with P chosen positives; ``targets`` [C, d] holds the target of each class, and those of all
    classes join the keys: Z = sum_{k != i} exp(s_ik / t) + sum_c exp(s_i,target c / t). So the own
    target is one more positive, of weight w: as in the released code (the paper divides by P alone,
    and not the target's term).
    """
    scores = scores_within(embeddings, temperature, targets)
    missed = torch.logsumexp(scores, dim=1, keepdim=True) - scores
    batch = len(labels)
    own_target = missed[:, batch:].gather(1, labels.unsqueeze(1)).squeeze(1)
    chosen = next_of_class(labels, positives)
    pulled = missed[:, :batch].masked_fill(~chosen, 0.0).sum(dim=1)
    return (pulled + target_weight * own_target) / (chosen.sum(dim=1) + 1)
