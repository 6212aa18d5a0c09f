"""What methods share that average word vectors and classify the mean by a small network.

[C] The network d-128-C with ReLU, trained by cross-entropy in the shared loop. The vectors
themselves stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import polars as pl
import torch
from torch import Tensor, nn

from eventide.features.encoders import Encoder
from eventide.networks.initialisation import Noise, seeded_linear
from eventide.runners.text_runner import TextNetwork

HIDDEN = 128


class WordNetwork(TextNetwork):
    """Linear d-128, ReLU, linear 128-C."""

    def __init__(self, width: int, classes: int, seed: int) -> None:
        super().__init__(Noise(seed))
        generator = torch.Generator().manual_seed(seed)
        self.hidden = seeded_linear(width, HIDDEN, bias=True, generator=generator)
        self.classifier = seeded_linear(HIDDEN, classes, bias=True, generator=generator)

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the hidden values of mean vectors [B, d], and logits."""
        hidden = torch.relu(self.hidden(inputs))
        return hidden, self.classifier(hidden)

    def modules_of(self, part: Literal["encoder", "classifier"]) -> Iterator[nn.Module]:
        """Yield the one layer of a part."""
        yield self.hidden if part == "encoder" else self.classifier


def averaged(encoder: Encoder, messages: pl.DataFrame) -> Tensor:
    """Return the mean of each message's word vectors [n, d]."""
    return torch.from_numpy(encoder.encode(messages))
