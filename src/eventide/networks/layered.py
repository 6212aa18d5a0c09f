"""A network of graph layers and a linear classifier: the shape of the sampled graph baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, cast

import torch
from torch import Tensor, nn

from eventide.graphs.blocks import Block
from eventide.networks.seeding import Noise, seeded_linear
from eventide.networks.trainable import TrainableNetwork


class LayeredNetwork(TrainableNetwork):
    """Layers map (states of sources, block) to states of readers; the last states are embeddings.

    ``width`` is the length of an embedding.
    """

    def __init__(
        self,
        layers: Sequence[nn.Module],
        *,
        width: int,
        classes: int,
        generator: torch.Generator,
        noise: Noise,
    ) -> None:
        super().__init__(noise)
        self.layers = nn.ModuleList(layers)
        self.classifier = seeded_linear(width, classes, bias=True, generator=generator)
        self.width = width

    def modules_of(self, part: Literal["encoder", "classifier"]) -> Iterator[nn.Module]:
        """Yield the layers or the classifier."""
        yield self.layers if part == "encoder" else self.classifier

    @property
    def encoder_frozen(self) -> bool:
        """Whether no layer is being trained."""
        return not any(each.requires_grad for each in self.layers.parameters())

    def states(self, inputs: Tensor, blocks: Sequence[Block]) -> Tensor:
        """Run all layers, each over its block, and return the embeddings."""
        states = inputs
        for layer, block in zip(self.layers, blocks, strict=True):
            states = layer(states, block)
        return states

    def classify(self, embeddings: Tensor) -> Tensor:
        """Return the logits [n, C] of embeddings [n, width]."""
        return cast(Tensor, self.classifier(embeddings))
