"""The trigamma function of numbers given by their logarithm, stable from 1 to far beyond 1e300.

trigamma(x) = (1 + excess(x) / x) / x, and excess(x) falls from 0.645 at 1 to 1/2: everything that
would cancel is expressed by it. Everything here takes log(x), x >= 1, in float64.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

FAR = math.log(50.0)
"""From x = 50 on, the series in ``trigamma_excess`` is exact to double precision."""
SHIFT = 12
"""By how much x is raised before the series is used for small x."""


def trigamma_excess(log_x: Tensor) -> Tensor:
    """Return x * (x * trigamma(x) - 1) for x = exp(``log_x``).

    >>> trigamma_excess(torch.tensor([0.0, 900.0], dtype=torch.float64))
    tensor([0.6449, 0.5000], dtype=torch.float64)
    """
    x = log_x.clamp(max=FAR).exp()
    # trigamma(x) = 1/x^2 + trigamma(x + 1), until the series holds
    steps = torch.stack([(x + step).reciprocal().square() for step in range(SHIFT)]).sum(dim=0)
    r = (x + SHIFT).reciprocal()
    near = x * (x * (steps + r * (1 + r * _series(r))) - 1)
    far = _series((-log_x.clamp(min=FAR)).exp())
    return torch.where(log_x < FAR, near, far)


def _series(r: Tensor) -> Tensor:
    """x * (x * trigamma(x) - 1) for large x = 1 / r: 1/2 and Bernoulli's numbers."""
    s = r * r
    return 0.5 + r * (1 / 6 + s * (-1 / 30 + s * (1 / 42 + s * (-1 / 30 + s * (5 / 66)))))


def log_trigamma(log_x: Tensor) -> Tensor:
    """Return log(trigamma(x)) for x = exp(``log_x``).

    >>> log_trigamma(torch.tensor([900.0], dtype=torch.float64))
    tensor([-900.], dtype=torch.float64)
    """
    return torch.log1p(trigamma_excess(log_x) * (-log_x).exp()) - log_x
