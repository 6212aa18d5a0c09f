"""What methods share that average word vectors and classify the mean by a small network.

[C] The network d-128-C with ReLU, trained by cross-entropy in the shared loop. The vectors
themselves stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

import polars as pl
import torch
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus
from eventide.features.encoders import Encoder, State
from eventide.methods.event_detection.text_method import TextMethod
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


class AveragedVectors(TextMethod[WordNetwork]):
    """A method gives the encoder that averages the word vectors of a message."""

    @cached_property
    def encoder(self) -> Encoder:
        """What averages the word vectors of a message."""
        raise NotImplementedError

    def read(self, messages: pl.DataFrame) -> Tensor:
        """Return the mean of each message's word vectors [n, d]."""
        return torch.from_numpy(self.encoder.encode(messages))

    def make_network(self, corpus: Corpus, classes: int) -> WordNetwork:
        """Return the network with its initialisation."""
        return WordNetwork(self.encoder.width, classes, self.seed)

    def reader_facts(self) -> dict[str, Any]:
        """Return the fingerprint of vectors that stay where they are."""
        return self.encoder.state().facts

    def recall_reader(self, facts: Mapping[str, Any]) -> None:
        """Check that the vectors are still the same."""
        self.encoder.restore(State({}, dict(facts)))
