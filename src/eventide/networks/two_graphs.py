"""Two convolutions side by side over two kinds of edges, fused by attention in a context."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from eventide.graphs.blocks import Block
from eventide.networks.gcn import GraphConvolution
from eventide.networks.seeding import seeded_linear

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
