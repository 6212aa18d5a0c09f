"""Graph convolution over weighted edges: each message becomes a mean of what it reads."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.graphs.blocks import Block
from eventide.networks.seeding import seeded_linear


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
