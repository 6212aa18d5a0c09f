"""Networks of the sampled graph baselines: convolution, attention, two graphs fused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.graphs.sampled.edge_blocks import Block
from eventide.networks.initialisation import Noise, seeded_linear
from eventide.networks.trainable import TrainableNetwork


class GraphConvolution(nn.Module):
    """h_i = act(W * sum_j a_ij x_j / sum_j a_ij + b), j over what i reads, itself included.

    Kipf and Welling's layer with the weights scaled by row: sampled edges have a direction, and
    the degree of a source would let one reader's sample change another's answer.
    """

    def __init__(
        self, inputs: int, outputs: int, *, activation: bool, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.linear = seeded_linear(inputs, outputs, bias=True, generator=generator)
        self.activation = activation

    def forward(self, states: Tensor, weights: Tensor, block: Block) -> Tensor:
        """Convolve ``states`` [m, inputs] with the ``weights`` [edges] of a block: [n, outputs]."""
        shares = block.normalised(weights)
        if self.linear.out_features < self.linear.in_features:  # the sum is cheaper when narrow
            summed = block.sum(shares, functional.linear(states, self.linear.weight))
            mapped = summed + self.linear.bias
        else:
            mapped = cast(Tensor, self.linear(block.sum(shares, states)))
        return functional.relu(mapped) if self.activation else mapped


class ViewMix(nn.Module):
    """PP-GCN's learned weights of the views: a_ij = sum_v sigmoid(w_v) * a^v_ij, w from 0."""

    def __init__(self, views: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(views))

    def forward(self, kinds: Tensor) -> Tensor:
        """Mix the views' weights [edges, views] into one [edges]."""
        return kinds @ torch.sigmoid(self.logits)


class MixedConvolution(nn.Module):
    """A convolution over the mix of all kinds of edges; ``mix`` is shared by the layers."""

    def __init__(self, mix: ViewMix, convolution: GraphConvolution) -> None:
        super().__init__()
        self.mix = mix
        self.convolution = convolution

    def forward(self, states: Tensor, block: Block) -> Tensor:
        """Return the readers' next states [n, outputs]."""
        return cast(Tensor, self.convolution(states, self.mix(block.kinds), block))


SLOPE = 0.01
"""Of the leaky ReLU for negative scores: torch's default, which KPGNN leaves as it is."""


class GraphAttention(nn.Module):
    """out_i = z_i + sum_j a_ij z_j per head, heads side by side, z = W h without bias.

    a_ij = softmax over what i reads of leaky_relu(s . z_j + t . z_i), itself included; z_i is the
    residual.
    """

    def __init__(
        self,
        inputs: int,
        heads: int,
        width: int,
        *,
        activation: bool,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.project = seeded_linear(inputs, heads * width, bias=False, generator=generator)
        scorers = [
            seeded_linear(width, 1, bias=False, generator=generator).weight.detach()
            for _ in range(2 * heads)
        ]
        self.source_score = nn.Parameter(torch.cat(scorers[:heads]))
        self.reader_score = nn.Parameter(torch.cat(scorers[heads:]))
        self.activation = activation

    def forward(self, states: Tensor, block: Block) -> Tensor:
        """Return the readers' next states [n, heads * width] from ``states`` [m, inputs]."""
        heads, width = self.source_score.shape
        z = cast(Tensor, self.project(states)).view(-1, heads, width)
        own = z[block.own]
        from_source = (z * self.source_score).sum(dim=2)
        from_reader = (own * self.reader_score).sum(dim=2)
        scores = from_source[block.sources] + from_reader[block.readers]
        scores = functional.leaky_relu(scores, SLOPE)
        read = [block.sum(block.softmax(scores[:, head]), z[:, head]) for head in range(heads)]
        out = own.flatten(1) + torch.cat(read, dim=1)
        return functional.elu(out) if self.activation else out


SEMANTIC, TEMPORAL, CONTEXT = 0, 1, 2
"""What the kinds of edges of a block mean here."""


class TwoGraphs(nn.Module):
    """The first layer: semantic and temporal states, and beside them the context [n, 2w + inputs].

    The context of a message is the mean of what it reads by the third kind of edges.
    """

    def __init__(self, inputs: int, width: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.semantic = GraphConvolution(inputs, width, activation=True, generator=generator)
        self.temporal = GraphConvolution(inputs, width, activation=True, generator=generator)

    def forward(self, states: Tensor, block: Block) -> Tensor:
        """Convolve the features [m, inputs] twice and average the context."""
        context = block.sum(block.normalised(block.kinds[:, CONTEXT]), states)
        semantic = self.semantic(states, block.kinds[:, SEMANTIC], block)
        temporal = self.temporal(states, block.kinds[:, TEMPORAL], block)
        return torch.cat([semantic, temporal, context], dim=1)


class FusedGraphs(nn.Module):
    """The last layer: both convolutions again, then z_i = sum_k a_k z^k_i.

    a = softmax over k of q . tanh(W z^k_i + U c_i), with c_i the context of the message.
    """

    def __init__(self, inputs: int, width: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.semantic = GraphConvolution(width, width, activation=False, generator=generator)
        self.temporal = GraphConvolution(width, width, activation=False, generator=generator)
        self.map_state = seeded_linear(width, width, bias=True, generator=generator)
        self.map_context = seeded_linear(inputs, width, bias=False, generator=generator)
        self.query = seeded_linear(width, 1, bias=False, generator=generator)
        self.width = width

    def forward(self, states: Tensor, block: Block) -> Tensor:
        """Fuse what the two graphs say of the readers [n, width]."""
        semantic, temporal = states[:, : self.width], states[:, self.width : 2 * self.width]
        context = self.map_context(states[block.own, 2 * self.width :])
        each = torch.stack(
            [
                self.semantic(semantic, block.kinds[:, SEMANTIC], block),
                self.temporal(temporal, block.kinds[:, TEMPORAL], block),
            ],
            dim=1,
        )
        scores = self.query(torch.tanh(self.map_state(each) + context.unsqueeze(1)))
        return (torch.softmax(scores, dim=1) * each).sum(dim=1)


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
