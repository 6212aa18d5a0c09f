"""Triplet loss with a random violating negative: KPGNN's."""

from __future__ import annotations

import torch
from torch import Tensor


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
    place = torch.minimum((draw * count).long(), count - 1)
    return anchor, positive, negatives[anchor, place]
