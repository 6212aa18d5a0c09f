"""What losses read of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from eventide.losses.class_state import ClassStatistics
from eventide.networks.multi_view import ViewOutput, fused_logits
from eventide.opinions.opinion import OpinionLike

Outputs = Mapping[str, ViewOutput]


@dataclass(frozen=True, eq=False)
class LossInputs:
    """All that a loss may read of a batch of B messages; ``epoch`` counts from 1."""

    outputs: Outputs
    fused: OpinionLike
    labels: Tensor
    statistics: ClassStatistics
    epoch: int

    @cached_property
    def logits(self) -> Tensor:
        """What the views' classifiers say together [B, C], whatever the opinions are read from."""
        return fused_logits(self.outputs)

    @property
    def embeddings(self) -> list[Tensor]:
        """Embeddings of every view, each [B, d]."""
        return [output.embeddings for output in self.outputs.values()]


Loss = Callable[[LossInputs], Tensor]
"""From a batch to one value per message [B]."""
Reduction = Callable[[Tensor, LossInputs], Tensor]
"""From the values [B] of a batch to one number."""
