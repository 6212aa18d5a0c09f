"""What the objective knows of each class: size, uncertainty, error rate. Updated every epoch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from eventide.runtime.share import current_share
from eventide.tensors import class_means

START = 1 - 1e-6
"""Class uncertainty before the first epoch: nothing is known of any class."""


def initial_class_uncertainty(classes: int) -> Tensor:
    """Return the state before training [C]: every class as uncertain as can be."""
    return torch.full((classes,), START, dtype=torch.float64)


def updated_means(values: Tensor, labels: Tensor, previous: Tensor) -> Tensor:
    """Average ``values`` [n] within each class; a class without messages keeps ``previous`` [C].

    Of several workers each gives the values of its own messages, and gets the average over all.

    >>> updated_means(torch.tensor([0.0, 1.0]), torch.tensor([1, 1]), torch.tensor([0.9, 0.9]))
    tensor([0.9000, 0.5000])
    """
    share = current_share()
    means = class_means(values.detach().to(previous.dtype), labels, len(previous), share)
    counts = share.sum(torch.bincount(labels, minlength=len(previous)))
    return torch.where(counts > 0, means, previous)


class Seen(Protocol):
    """What is read of opinions here."""

    @property
    def predicted(self) -> Tensor:
        """The most probable class of each message [n]."""

    @property
    def uncertainty(self) -> Tensor:
        """How uncertain each is [n]."""


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Per class [C], from training messages only; fixed while an epoch lasts."""

    counts: Tensor
    uncertainty: Tensor
    error_rate: Tensor

    @classmethod
    def initial(cls, counts: Tensor) -> ClassStatistics:
        """Return the state before the first epoch, from training messages per class [C]."""
        start = initial_class_uncertainty(len(counts)).to(counts.device)
        return cls(counts, start, start.clone())

    @property
    def present(self) -> Tensor:
        """Which classes have a training message [C]."""
        return self.counts > 0

    def updated(self, opinion: Seen, labels: Tensor) -> ClassStatistics:
        """Return the state after an epoch, from fused opinions on the training messages.

        The uncertainty of a class is the mean uncertainty of its training messages.
        """
        wrong = (opinion.predicted != labels).double()
        return replace(
            self,
            uncertainty=updated_means(opinion.uncertainty, labels, self.uncertainty),
            error_rate=updated_means(wrong, labels, self.error_rate),
        )
