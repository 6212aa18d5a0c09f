"""Gamma functions of numbers given by their logarithm, stable from 1 to far beyond 1e300.

Fused evidence is a product over views and leaves the range of floating point long before it leaves
the range of its logarithm. Everything here takes log(x), x >= 1, in float64.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

FAR_DIGAMMA = 20.0
"""From x = exp(20) on, digamma(x) = log(x) - 1/(2x) is exact to double precision."""

FAR_SURPRISE = math.log(50.0)
"""From x = 50 on, the series in ``surprise`` is exact to double precision."""


def digamma(log_x: Tensor) -> Tensor:
    """Return digamma(x) for x = exp(``log_x``)."""
    near = torch.digamma(log_x.clamp(max=FAR_DIGAMMA).exp())
    far = log_x - 0.5 * (-log_x).exp()
    return torch.where(log_x < FAR_DIGAMMA, near, far)


def surprise(log_x: Tensor) -> Tensor:
    """Return lgamma(x) - (x - 1) * digamma(x) + x for x = exp(``log_x``).

    The two large terms cancel down to log(x)/2 + a constant: subtracted in floating point they
    leave noise, so large x uses the difference of their asymptotic series.
    """
    x = log_x.clamp(max=FAR_SURPRISE).exp()
    near = torch.lgamma(x) - (x - 1) * torch.digamma(x) + x
    r = (-log_x.clamp(min=FAR_SURPRISE)).exp()
    series = -1 / 3 + r * (-1 / 12 + r * (-1 / 90 + r * (1 / 120 + r * (1 / 210 - r / 252))))
    far = 0.5 * log_x + 0.5 * (math.log(2 * math.pi) + 1) + r * series
    return torch.where(log_x < FAR_SURPRISE, near, far)


def divergence_from_uniform(log_alpha: Tensor) -> Tensor:
    """Kullback-Leibler divergence of Dirichlet(alpha) from Dirichlet(1), one per row, never < 0.

    ``log_alpha`` [n, C] holds log(alpha). With k = ``surprise`` and strength s = sum(alpha):
    KL = k(s) - sum_c k(alpha_c) + (C - 1) * digamma(s) - lgamma(C)

    >>> divergence_from_uniform(torch.tensor([[0.0, 700.0]], dtype=torch.float64)).round()
    tensor([699.], dtype=torch.float64)
    """
    classes = log_alpha.shape[-1]
    log_strength = torch.logsumexp(log_alpha, dim=-1)
    divergence = (
        surprise(log_strength)
        - surprise(log_alpha).sum(dim=-1)
        + (classes - 1) * digamma(log_strength)
        - math.lgamma(classes)
    )
    return divergence.clamp(min=0)
