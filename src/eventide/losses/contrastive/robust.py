"""Distributionally robust contrast: centroids are trusted only up to a learned distance."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from eventide.tensors import widen


def robust_contrastive(
    embeddings: Tensor, labels: Tensor, centroids: Tensor, radii: Tensor
) -> Tensor:
    """Robust loss of DRO-LT, one value per message [B].

    For a message b of class c: -log softmax over the batch's messages k of

        -distance(centroid_c, z_k) - radius_c * [y_k = c],

    at k = b; the distance is Euclidean. ``centroids`` [C, d]; ``radii`` [C], each of its class
    whatever the order of the batch, and never below 0. The paper averages within each class first:
    ``losses.reduction.mean_of_classes``.

    >>> z, c = torch.tensor([[0.0], [2.0]]), torch.tensor([[0.0], [2.0]])
    >>> robust_contrastive(z, torch.tensor([0, 1]), c, torch.tensor([2.0, 2.0]))
    tensor([0.6931, 0.6931])
    """
    positions = widen(embeddings)
    # Through differences, not a matrix product, which would lose the small distances.
    distances = torch.cdist(
        centroids.to(positions.dtype), positions, compute_mode="donot_use_mm_for_euclid_dist"
    )
    own = functional.one_hot(labels, len(centroids)).T
    reach = radii.clamp(min=0).to(positions.dtype).unsqueeze(1)
    log_share = torch.log_softmax(-distances - own * reach, dim=1)
    return -log_share.gather(0, labels.unsqueeze(0)).squeeze(0)
