"""From one value per message to one number: means, and class-balanced weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from eventide.losses.loss_inputs import LossInputs, Reduction
from eventide.losses.settings import LossSettings

FLOOR = 1e-6
"""No class is so certain that its messages weigh nothing."""
Scale = Literal["classes", "messages"]
"""What the weights of +CB sum to: over classes their number, or over messages theirs."""


def batch_mean(values: Tensor, inputs: LossInputs) -> Tensor:
    """Average over the batch."""
    return values.mean()


@dataclass(frozen=True)
class ClassBalanced:
    """The paper's +CB: the sum of weight * value divided by the batch size."""

    base: float
    scale: Scale = "classes"

    def __call__(self, values: Tensor, inputs: LossInputs) -> Tensor:
        """Weigh each message by its class, then average over the batch."""
        weights = class_balanced_weights(inputs.statistics.counts, self.base, self.scale)
        return (weights[inputs.labels] * values).mean()


@dataclass(frozen=True)
class UncertaintyWeighted:
    """Weights by class uncertainty, of mean 1 over the training messages, beside another reduction.

    What is uncertain is learned harder, whether it is rare or not.
    """

    power: float
    inner: Reduction

    def __call__(self, values: Tensor, inputs: LossInputs) -> Tensor:
        """Weigh each message by the uncertainty of its class, then reduce."""
        statistics = inputs.statistics
        weights = uncertainty_weights(statistics.counts, statistics.uncertainty, self.power)
        return self.inner(weights[inputs.labels] * values, inputs)


def error_reduction(settings: LossSettings) -> Reduction:
    """Return how the error of a method whose class term weighs all messages alike is reduced.

    >>> error_reduction(LossSettings(class_balanced=True, class_balanced_scale="messages"))
    ClassBalanced(base=0.9999, scale='messages')
    """
    reduction: Reduction = batch_mean
    if settings.class_balanced:
        reduction = ClassBalanced(settings.class_balanced_base, settings.class_balanced_scale)
    if settings.uncertainty_weights > 0:
        reduction = UncertaintyWeighted(settings.uncertainty_weights, reduction)
    return reduction


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


def class_balanced_weights(
    counts: Tensor, base: float = 0.9999, scale: Scale = "classes"
) -> Tensor:
    """Return w_c = (1 - b) / (1 - b^n_c) [C], scaled to sum to the number of classes.

    With the scale ``messages`` the mean over all training messages is 1 instead. ``counts`` [C] are
    training messages per class. A class without any has no error to weigh: its weight is 0 and the
    others sum to their own number.

    >>> class_balanced_weights(torch.tensor([1, 1, 0])).tolist()
    [1.0, 1.0, 0.0]
    """
    present = counts > 0
    seen = counts.double().clamp(min=1)
    # The effective number 1 - b^n as expm1: for small n it is far below 1.
    effective = -torch.expm1(seen * math.log(base)) if base > 0 else torch.ones_like(seen)
    weights = torch.where(present, (1 - base) / effective, 0.0)
    share = present if scale == "classes" else counts
    return weights * share.sum() / (weights * share).sum()


def uncertainty_weights(counts: Tensor, uncertainty: Tensor, power: float = 1.0) -> Tensor:
    """Return w_c = u_c^power [C], scaled so that a training message weighs 1 on average.

    ``counts`` [C] are training messages per class, ``uncertainty`` [C] their mean vacuity.

    >>> uncertainty_weights(torch.tensor([1, 1]), torch.tensor([0.25, 0.75])).tolist()
    [0.5, 1.5]
    """
    weights = uncertainty.clamp(min=FLOOR) ** power
    return weights * counts.sum() / (weights * counts).sum()
