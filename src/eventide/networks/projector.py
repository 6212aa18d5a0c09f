"""A small map between spaces: one hidden layer, for losses that compare somewhere else."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.networks.precision import widen
from eventide.networks.seeding import seeded_linear


class Projector(nn.Module):
    """Linear, ReLU, linear; its first weights come from ``generator``."""

    def __init__(
        self, inputs: int, hidden: int, outputs: int, *, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.hidden = seeded_linear(inputs, hidden, bias=True, generator=generator)
        self.output = seeded_linear(hidden, outputs, bias=True, generator=generator)

    def forward(self, values: Tensor) -> Tensor:
        """Map values [n, inputs], in full precision, to [n, outputs]."""
        return cast(Tensor, self.output(functional.relu(self.hidden(widen(values)))))
