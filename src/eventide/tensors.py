"""Small operations on tensors: directions of rows, means by class, wider numbers."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.runtime.share import Share

SHORTEST = 1e-12
"""A vector shorter than this has no direction."""


def unit_rows(vectors: Tensor) -> Tensor:
    """Scale every row of ``vectors`` [n, d] to length 1; a zero row stays zero, with zero gradient.

    Dividing by a tiny constant instead would hand such a row a gradient of its inverse.

    >>> import torch
    >>> unit_rows(torch.tensor([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    square = vectors.square().sum(dim=-1, keepdim=True)
    nowhere = square < SHORTEST**2
    inverse = square.masked_fill(nowhere, 1.0).rsqrt().masked_fill(nowhere, 0.0)
    return vectors * inverse


def widen(values: Tensor) -> Tensor:
    """Return half-precision ``values`` in float32, and wider ones as they are.

    >>> widen(torch.ones(1, dtype=torch.bfloat16)).dtype, widen(torch.ones(1).double()).dtype
    (torch.float32, torch.float64)
    """
    return values if values.dtype == torch.float64 else values.float()


def class_means(values: Tensor, labels: Tensor, classes: int, share: Share | None = None) -> Tensor:
    """Mean of the rows of ``values`` [n, ...] of each class [C, ...]; zero for an empty class.

    With a ``share`` the mean is over the messages of all workers.

    >>> class_means(torch.tensor([[1.0, 1.0], [5.0, -1.0]]), torch.tensor([1, 1]), 2).tolist()
    [[0.0, 0.0], [3.0, 0.0]]
    """
    counts = torch.bincount(labels, minlength=classes)
    totals = values.new_zeros(classes, *values.shape[1:]).index_add_(0, labels, values)
    if share is not None:
        counts, totals = share.sum(counts), share.sum(totals)
    return totals / counts.clamp(min=1).view(-1, *[1] * (values.dim() - 1))
