"""PP-GCN's loss on pairs of messages: of one event if their vectors are equally long."""

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
