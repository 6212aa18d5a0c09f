"""Losses on pairs and triplets of messages (PP-GCN, KPGNN)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

CLOSEST = 1e-8
"""Added to the ratio's distance from 1, so that its logarithm exists."""


def norm_ratio_loss(first: Tensor, second: Tensor, same: Tensor) -> Tensor:
    """Sigmoid cross-entropy of the logit -log(r - 1 + 1e-8), one value per pair [P].

    r = max(|x| / |y|, |y| / |x|) for the pair's vectors x, y in ``first``, ``second`` [P, d];
    ``same`` [P] says which pairs are of one event.

    >>> one, two = torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 10.0]])
    >>> round(norm_ratio_loss(one, two, torch.tensor([True])).item(), 4)  # r = 2: log 2
    0.6931
    """
    x, y = lengths(first), lengths(second)
    ratio = torch.maximum(x / y, y / x)
    logits = -torch.log(ratio - 1 + CLOSEST)
    return functional.binary_cross_entropy_with_logits(
        logits, same.to(logits.dtype), reduction="none"
    )


def lengths(vectors: Tensor) -> Tensor:
    """Euclidean norms of ``vectors`` [n, d], kept away from 0 so that they can be divided by [n].

    >>> lengths(torch.tensor([[3.0, 4.0]])).item()
    5.0
    """
    return vectors.square().sum(dim=1).clamp(min=CLOSEST**2).sqrt()


def bounded_gradient(values: Tensor, most: float = 1.0) -> Tensor:
    """Pass ``values`` on unchanged, and their gradient back with a norm of at most ``most``.

    The slope of ``norm_ratio_loss`` has a pole where vectors of two events are equally long: one
    such pair would throw all weights away.

    >>> values = torch.ones(2, requires_grad=True)
    >>> (bounded_gradient(values) * torch.tensor([30.0, 40.0])).sum().backward()
    >>> values.grad
    tensor([0.6000, 0.8000])
    """
    passed = values.view_as(values)
    if passed.requires_grad:
        passed.register_hook(  # type: ignore[no-untyped-call]
            lambda gradient: gradient * (most / gradient.norm().clamp(min=most))
        )
    return passed


def triplet_loss(
    embeddings: Tensor, labels: Tensor, *, margin: float, generator: torch.Generator
) -> Tensor:
    """max(0, |z_a - z_p|^2 - |z_a - z_n|^2 + margin), one value per triplet [T].

    Triplets are those of ``violating_triplets``; without any there is one value, zero.

    >>> lines = torch.tensor([[0.0], [1.0], [2.0]])
    >>> labels, generator = torch.tensor([0, 0, 1]), torch.Generator().manual_seed(0)
    >>> triplet_loss(lines, labels, margin=4.0, generator=generator).tolist()
    [1.0]
    """
    with torch.no_grad():
        distances = torch.cdist(
            embeddings, embeddings, compute_mode="donot_use_mm_for_euclid_dist"
        ).square()
        anchor, positive, negative = violating_triplets(
            distances, labels, margin=margin, generator=generator
        )
    if not len(anchor):
        return embeddings.sum().unsqueeze(0) * 0
    own = embeddings[anchor]
    near = (own - embeddings[positive]).square().sum(dim=1)
    far = (own - embeddings[negative]).square().sum(dim=1)
    return torch.relu(near - far + margin)


def violating_triplets(
    distances: Tensor, labels: Tensor, *, margin: float, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Anchor, positive, negative [T]: every pair of one event, once, that some negative violates.

    ``distances`` [B, B] are squared. A negative n violates (a, p) if d(a, n) < d(a, p) + margin;
    of those the ``generator`` picks one at random. The anchor is the earlier of the two.
    """
    alike = labels.unsqueeze(0) == labels.unsqueeze(1)
    # negatives by distance: those that violate a pair are the first few, found by bisection
    ordered, negatives = distances.masked_fill(alike, torch.inf).sort(dim=1)
    violating = torch.searchsorted(ordered, distances + margin)
    anchor, positive = (alike.triu(1) & (violating > 0)).nonzero(as_tuple=True)
    count = violating[anchor, positive]
    draw = torch.rand(len(anchor), generator=generator, dtype=torch.float64).to(distances.device)
    chosen = torch.minimum((draw * count).long(), count - 1)
    return anchor, positive, negatives[anchor, chosen]
