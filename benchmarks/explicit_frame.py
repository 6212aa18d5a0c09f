"""The whole training step with explicit edges, by sparse products or by gather/scatter."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.corpus.corpus import Corpus
from eventide.graphs.exact.products import Pattern
from eventide.runners.graph_runner import GraphRunner
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from rivals import CHUNK, softmax_weights


class ExplicitRunner(GraphRunner):
    """The same network and objective over edges; ``kernel`` is "sparse" or "gather"."""

    def __init__(self, *given: Any, kernel: str) -> None:
        super().__init__(*given)
        self._corpus: Corpus = given[1]
        self._kernel = kernel

    @cached_property
    def _graphs(self) -> dict[str, EdgeNeighbourhood]:
        return {
            view: EdgeNeighbourhood(ExplicitNeighbourhood(each, self._corpus.times), self._kernel)
            for view, each in self._corpus.incidences.items()
        }


class EdgeShared:
    """States that the steps of a round read over edges, and the gradients they send together."""

    def __init__(self, neighbourhood: EdgeNeighbourhood, states: Tensor) -> None:
        self.neighbourhood = neighbourhood
        self.leaf = states.detach().requires_grad_()
        self.steps = 0

    def read(self, rows: Any, source: Tensor) -> tuple[Tensor, Any]:
        """As ``SharedStates.read``."""
        self.steps += 1
        states = _Tied.apply(self.leaf, source)
        wanted = torch.from_numpy(rows)
        pointers, sources, distances = self.neighbourhood.edges_of(wanted)
        kernel = self.neighbourhood.kernel
        edges = EdgeSet(pointers, sources, distances, len(states), kernel)
        return states[wanted], partial(_average, edges, states)

    def close(self) -> None:
        """Nothing is let go."""

    def total(self) -> Tensor:
        """As ``SharedStates.total``."""
        return self.leaf.grad / self.steps


class _Tied(torch.autograd.Function):
    """The states, whose gradients gather in the leaf before ``source`` learns."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, source: Tensor) -> Tensor:
        return states.view_as(states)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        return gradient, gradient.new_zeros(())


class EdgeNeighbourhood:
    """A neighbourhood that stores its edges, with 32-bit numbers where they are enough."""

    def __init__(self, explicit: ExplicitNeighbourhood, kernel: str) -> None:
        self.pointers, self.sources = explicit.pointers, explicit.sources
        self.distances = explicit.distances.float()
        self.kernel = kernel

    def share(self, states: Tensor, rows: Any) -> EdgeShared:
        """Let several steps read ``states``."""
        return EdgeShared(self, states)

    def kept_rows(self) -> int:
        """Nothing that would have to be computed again: the rivals keep it all."""
        return 0

    def average(self, values: Tensor, rates: Tensor) -> Tensor:
        """Average around all messages."""
        return _average(self.whole, values, rates)

    @cached_property
    def whole(self) -> EdgeSet:
        """All edges."""
        count = len(self.pointers) - 1
        return EdgeSet(self.pointers, self.sources, self.distances, count, self.kernel)

    def around(self, rows: Tensor) -> EdgeSurroundings:
        """The edges of some messages, and everybody at their other ends."""
        return EdgeSurroundings(self, rows)

    def edges_of(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Pointers, sources and distances of the edges of ``rows``."""
        lengths = self.pointers[rows + 1] - self.pointers[rows]
        pointers = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        shifts = torch.repeat_interleave(self.pointers[rows] - pointers[:-1], lengths)
        edges = shifts + torch.arange(len(shifts))
        return pointers, self.sources[edges], self.distances[edges]


class EdgeSurroundings:
    """Some messages and those they average over."""

    def __init__(self, neighbourhood: EdgeNeighbourhood, rows: Tensor) -> None:
        pointers, sources, distances = neighbourhood.edges_of(rows)
        near = torch.zeros(len(neighbourhood.pointers) - 1, dtype=torch.bool)
        near[sources] = True
        place = near.cumsum(0) - 1
        self.sources, self.own = near.nonzero().squeeze(1), place[rows]
        self.edges = EdgeSet(
            pointers, place[sources], distances, len(self.sources), neighbourhood.kernel
        )

    def average(self, values: Tensor, rates: Tensor) -> Tensor:
        """Average ``values`` of the sources around the messages."""
        return _average(self.edges, values, rates)


class EdgeSet:
    """Compressed edges of some readers into ``columns`` sources."""

    def __init__(
        self, pointers: Tensor, sources: Tensor, distances: Tensor, columns: int, kernel: str
    ) -> None:
        self.pointers, self.sources, self.distances = pointers, sources, distances
        self.targets = torch.repeat_interleave(torch.arange(len(pointers) - 1), pointers.diff())
        self.pattern = Pattern(pointers, sources, columns)
        self.kernel = kernel

    def weights(self, rates: Tensor) -> tuple[Tensor, Tensor]:
        """Softmax weights, and their slopes in the rates."""
        return softmax_weights(self, rates)

    def chunks(self) -> list[slice]:
        """Edges whose messages fit into memory at once."""
        return [slice(start, start + CHUNK) for start in range(0, len(self.sources), CHUNK)]

    def forward(self, weights: Tensor, values: Tensor) -> Tensor:
        """Weighted sums over the edges."""
        if self.kernel == "sparse":
            return self.pattern.times(weights, values)
        out = values.new_zeros(len(self.pointers) - 1, values.shape[1])
        for run in self.chunks():
            messages = values.index_select(0, self.sources[run]).mul_(weights[run, None])
            out.index_add_(0, self.targets[run], messages)
        return out

    def backward(self, weights: Tensor, gradient: Tensor, values: Tensor) -> Tensor:
        """The gradient of the values."""
        out = torch.zeros_like(values)
        if self.kernel == "sparse":
            self.pattern.transposed_times(weights, gradient, out, add=False)
            return out
        for run in self.chunks():
            received = gradient.index_select(0, self.targets[run]).mul_(weights[run, None])
            out.index_add_(0, self.sources[run], received)
        return out

    def slope(self, slopes: Tensor, gradient: Tensor, values: Tensor) -> Tensor:
        """The gradient of the rates."""
        if self.kernel == "sparse":
            return (self.pattern.times(slopes, values) * gradient).sum(1)
        out = values.new_zeros(len(gradient))
        for run in self.chunks():
            received = gradient.index_select(0, self.targets[run])
            dots = received.mul_(values.index_select(0, self.sources[run])).sum(1)
            out.index_add_(0, self.targets[run], dots * slopes[run])
        return out


def _average(edges: EdgeSet, values: Tensor, rates: Tensor) -> Tensor:
    return _Average.apply(values, rates, edges)


class _Average(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, rates: Tensor, edges: EdgeSet) -> Tensor:
        weights, slopes = edges.weights(rates)
        ctx.edges = edges
        ctx.save_for_backward(weights, slopes, values)
        return edges.forward(weights, values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weights, slopes, values = ctx.saved_tensors
        gradient = gradient.contiguous()
        wanted = ctx.needs_input_grad
        return (
            ctx.edges.backward(weights, gradient, values) if wanted[0] else None,
            ctx.edges.slope(slopes, gradient, values) if wanted[1] else None,
            None,
        )
