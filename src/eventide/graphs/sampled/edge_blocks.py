"""Explicit edges of one network layer, with gradients to edge weights and source values.

For networks that weight single edges (attention, learned similarities). Their neighbourhoods come
from ``neighbour_sampler``, so a message has at most cap + 1 edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.exact.products import Pattern
from eventide.graphs.incidence import Ints, offsets, ranges
from eventide.graphs.sampled.neighbour_sampler import Sample

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Block:
    """Each of n readers reads some of m sources, including itself.

    ``readers`` [edges] ascend; ``own`` [n] is where each reader is among the sources; ``kinds``
    [edges, k] are constant weights of the edges, one column for every kind of edge.
    """

    pattern: Pattern
    readers: Tensor
    own: Tensor
    kinds: Tensor

    @property
    def sources(self) -> Tensor:
        """The source of each edge [edges]."""
        return self.pattern.columns_of

    def sum(self, weights: Tensor, values: Tensor) -> Tensor:
        """Sum weight * value of the source over the edges of each reader [n, width].

        ``weights`` [edges], ``values`` [m, width]; differentiable in both.
        """
        product: Tensor = _EdgeSum.apply(weights, values, self.pattern)  # type: ignore[no-untyped-call]
        return product

    def normalised(self, weights: Tensor) -> Tensor:
        """Divide ``weights`` [edges] by their sum around each reader."""
        return weights / self._total(weights)[self.readers]

    def softmax(self, scores: Tensor) -> Tensor:
        """Softmax of ``scores`` [edges] over the edges of each reader."""
        top = scores.new_full((len(self.own),), -torch.inf)
        top = top.scatter_reduce(0, self.readers, scores.detach(), "amax")
        return self.normalised(torch.exp(scores - top[self.readers]))

    def _total(self, weights: Tensor) -> Tensor:
        return weights.new_zeros(len(self.own)).index_add(0, self.readers, weights)


class _EdgeSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, values: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(weights, values)
        ctx.pattern = pattern
        return pattern.times(weights, values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        weights, values = ctx.saved_tensors
        gradient = upstream[0].contiguous()
        to_weights = to_values = None
        if ctx.needs_input_grad[0]:
            to_weights = torch.empty_like(weights)
            ctx.pattern.dots(gradient, values, to_weights)
        if ctx.needs_input_grad[1]:
            to_values = torch.empty_like(values)
            ctx.pattern.transposed_times(weights, gradient, to_values, add=False)
        return to_weights, to_values, None


class SampledGraph:
    """Messages and their sampled neighbours; gives blocks for the requested rows.

    ``kinds`` [entries, k] are the weights of the sample's entries; a message reads itself with
    weight 1.

    >>> graph = SampledGraph(Sample(np.array([0, 1, 1]), np.array([1])), np.array([[0.5]], "f4"))
    >>> block, sources = graph.block(np.array([0]))
    >>> sources.tolist(), block.kinds.flatten().tolist()
    ([0, 1], [1.0, 0.5])
    """

    def __init__(self, sample: Sample, kinds: Floats, device: torch.device | None = None) -> None:
        self.sample = sample
        count = len(sample.pointers) - 1
        self._device = device
        own = np.arange(count, dtype=np.int64)
        self._pointers, self._sources, self._kinds = with_oneself(sample, own, kinds)

    def __len__(self) -> int:
        return len(self._pointers) - 1

    def block(self, rows: Ints) -> tuple[Block, Ints]:
        """Return the edges of ``rows``, and the rows they read, ascending."""
        lengths = self._pointers[rows + 1] - self._pointers[rows]
        edges = ranges(self._pointers[rows], lengths)
        sources, columns = np.unique(self._sources[edges], return_inverse=True)
        own = np.searchsorted(sources, rows)
        made = make_block(
            offsets(lengths), columns, own, self._kinds[edges], len(sources), self._device
        )
        return made, sources


def outside_block(
    sample: Sample, kinds: Floats, device: torch.device | None = None
) -> tuple[Block, Ints]:
    """Return the edges of new messages into a memory, and the memory's rows they read.

    The sources of the block are those rows, then the new messages themselves.

    >>> block, known = outside_block(Sample(np.array([0, 1]), np.array([7])), np.ones((1, 1), "f4"))
    >>> known.tolist(), block.sources.tolist(), block.own.tolist()
    ([7], [0, 1], [1])
    """
    count = len(sample.pointers) - 1
    known, columns = np.unique(sample.sources, return_inverse=True)
    own = len(known) + np.arange(count, dtype=np.int64)
    inside = Sample(sample.pointers, columns.astype(np.int64))
    pointers, sources, weights = with_oneself(inside, own, kinds)
    return make_block(pointers, sources, own, weights, len(known) + count, device), known


def with_oneself(sample: Sample, own: Ints, kinds: Floats) -> tuple[Ints, Ints, Floats]:
    """Give every reader an edge to itself, of weight 1 in every kind; sources stay ascending."""
    readers = np.concatenate([sample.readers, np.arange(len(own), dtype=np.int64)])
    sources = np.concatenate([sample.sources, own])
    weights = np.concatenate([kinds, np.ones((len(own), kinds.shape[1]), dtype=np.float32)])
    order = np.lexsort((sources, readers))
    return offsets(sample.counts + 1), sources[order], weights[order]


def make_block(
    pointers: Ints,
    sources: Ints,
    own: Ints,
    kinds: Floats,
    count: int,
    device: torch.device | None = None,
) -> Block:
    """Build a block on ``device`` from edges in compressed rows and the ``count`` of sources."""
    target = device or torch.device("cpu")
    readers = np.repeat(np.arange(len(own), dtype=np.int64), np.diff(pointers))
    return Block(
        Pattern(
            torch.from_numpy(pointers).to(target),
            torch.from_numpy(np.ascontiguousarray(sources)).to(target),
            count,
        ),
        torch.from_numpy(readers).to(target),
        torch.from_numpy(own).to(target),
        torch.from_numpy(kinds).to(target),
    )
