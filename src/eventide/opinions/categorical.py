"""What a method without evidence says: plain class probabilities from logits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Categorical:
    """Softmax probabilities of a batch, read like an opinion.

    No mass is held back, so belief equals probability. Uncertainty is the entropy as a share of its
    largest value: a measure of doubt, but not the vacuity of an `Opinion`.

    >>> Categorical(torch.tensor([[0.0, 0.0]])).uncertainty.tolist()
    [1.0]
    """

    logits: Tensor

    @cached_property
    def log_probability(self) -> Tensor:
        """log of the class probabilities [B, C], in float64."""
        return torch.log_softmax(self.logits.double(), dim=-1)

    @property
    def probability(self) -> Tensor:
        """Class probabilities [B, C]."""
        return self.log_probability.exp()

    @property
    def belief(self) -> Tensor:
        """The same as the probability: nothing is held back."""
        return self.probability

    @cached_property
    def uncertainty(self) -> Tensor:
        """Entropy divided by log(C) [B], between 0 and 1."""
        entropy = -(self.probability * self.log_probability).sum(dim=-1)
        return (entropy / math.log(self.logits.shape[-1])).clamp(0, 1)

    @property
    def predicted(self) -> Tensor:
        """The most probable class [B]."""
        return self.logits.argmax(dim=-1)

    def decided(self, fallback: int | Tensor) -> Tensor:
        """The most probable class [B]; there always is one, so ``fallback`` is not needed."""
        return self.predicted
