"""What an epoch learned about each class: means over its training messages."""

from __future__ import annotations

import torch
from torch import Tensor

START = 1 - 1e-6
"""Class uncertainty before the first epoch: nothing is known of any class."""


def initial_class_uncertainty(classes: int) -> Tensor:
    """Return the state before training [C]: every class as uncertain as can be."""
    return torch.full((classes,), START, dtype=torch.float64)


def class_mean(values: Tensor, labels: Tensor, previous: Tensor) -> Tensor:
    """Average ``values`` [n] within each class; a class without messages keeps ``previous`` [C].

    >>> class_mean(torch.tensor([0.0, 1.0]), torch.tensor([1, 1]), torch.tensor([0.9, 0.9]))
    tensor([0.9000, 0.5000])
    """
    counts = torch.bincount(labels, minlength=len(previous))
    totals = torch.zeros_like(previous).index_add_(0, labels, values.detach().to(previous.dtype))
    return torch.where(counts > 0, totals / counts.clamp(min=1), previous)


def class_uncertainty(
    uncertainty: Tensor, labels: Tensor, classes: int, previous: Tensor | None = None
) -> Tensor:
    """Mean fused uncertainty of the training messages of each class [C].

    ``uncertainty`` and ``labels`` [n] are of training messages only. A class without any keeps its
    ``previous`` value, or the value before training.
    """
    start = initial_class_uncertainty(classes).to(uncertainty.device)
    return class_mean(uncertainty, labels, start if previous is None else previous)
