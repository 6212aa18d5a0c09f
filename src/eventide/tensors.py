"""Directions of vectors: the one place that decides what the cosine of a zero vector is."""

from __future__ import annotations

import torch
from torch import Tensor

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
