"""From one value per message to one number: kept apart from the losses themselves."""

from __future__ import annotations

from torch import Tensor


def mean(values: Tensor) -> Tensor:
    """Average over the batch."""
    return values.mean()


def weighted(values: Tensor, weights: Tensor) -> Tensor:
    """Sum of weight * value divided by the batch size: the paper's +CB.

    >>> import torch
    >>> weighted(torch.tensor([1.0, 3.0]), torch.tensor([2.0, 0.0]))
    tensor(1.)
    """
    return (values * weights).mean()


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """Sum of weight * value divided by the sum of weights: deferred re-weighting of LDAM.

    >>> import torch
    >>> weighted_mean(torch.tensor([1.0, 3.0]), torch.tensor([2.0, 0.0]))
    tensor(1.)
    """
    return (values * weights).sum() / weights.sum()


def mean_of_classes(values: Tensor, labels: Tensor) -> Tensor:
    """Average within each class of the batch, then over its classes: DRO-LT's robust loss.

    >>> import torch
    >>> mean_of_classes(torch.tensor([1.0, 3.0, 6.0]), torch.tensor([4, 4, 2]))
    tensor(4.)
    """
    sizes = labels.bincount()
    return (values / sizes[labels]).sum() / (sizes > 0).sum()
