"""Graph attention over sampled edges, as KPGNN uses it: several heads, each with a residual."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.graphs.blocks import Block
from eventide.networks.seeding import seeded_linear

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
