"""What the objective knows of each class: how many messages, how uncertain, how often wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

from eventide.opinions.class_uncertainty import class_mean, initial_class_uncertainty
from eventide.opinions.opinion import Opinion


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

    def updated(self, opinion: Opinion, labels: Tensor) -> ClassStatistics:
        """Return the state after an epoch, from fused opinions on the training messages."""
        wrong = (opinion.predicted != labels).double()
        return replace(
            self,
            uncertainty=class_mean(opinion.uncertainty, labels, self.uncertainty),
            error_rate=class_mean(wrong, labels, self.error_rate),
        )
