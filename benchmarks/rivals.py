"""The rivals of the bucketed neighbourhood, all with explicit edges and written to be quick."""

from __future__ import annotations

from typing import Any

import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.exact.products import Pattern
from eventide.testing.explicit_graphs import ExplicitNeighbourhood

CHUNK = 200_000  # edges whose messages are in memory at once when gathering and scattering


class Edges:
    """Compressed edges with 32-bit numbers and the order that transposes them."""

    def __init__(self, explicit: ExplicitNeighbourhood) -> None:
        self.targets, self.sources = explicit.targets, explicit.sources
        self.distances = explicit.distances.float()
        self.pointers = explicit.pointers
        self.pattern = Pattern(explicit.pointers, explicit.sources, len(explicit))
        # neighbours are mutual, so the pattern is its own transpose and only numbers change place
        self.turn = torch.argsort(self.sources, stable=True)

    def weights(self, rates: Tensor) -> tuple[Tensor, Tensor]:
        """Softmax weights, and their slopes in the rates."""
        return softmax_weights(self, rates)


def softmax_weights(edges: Any, rates: Tensor) -> tuple[Tensor, Tensor]:
    """Softmax of -rate * distance over the edges of each target, and its slopes in the rates."""
    scores = rates.index_select(0, edges.targets).mul_(edges.distances).neg_()
    top = torch.segment_reduce(scores, "max", offsets=edges.pointers)
    weights = scores.sub_(top.index_select(0, edges.targets)).exp_()
    total = torch.segment_reduce(weights, "sum", offsets=edges.pointers)
    weights /= total.index_select(0, edges.targets)
    mean = torch.segment_reduce(weights * edges.distances, "sum", offsets=edges.pointers)
    slopes = mean.index_select(0, edges.targets).sub_(edges.distances).mul_(weights)
    return weights, slopes


def sparse_step(
    edges: Edges, values: Tensor, rates: Tensor, back: Tensor, kernel: str
) -> tuple[Tensor, ...]:
    """Forward and backward by sparse products with the ``torch`` or the ``scipy`` kernel."""
    weights, slopes = edges.weights(rates)
    out = _product(edges, weights, values, kernel)
    grad_values = _product(edges, weights.index_select(0, edges.turn), back, kernel)
    grad_rates = (_product(edges, slopes, values, kernel) * back).sum(1)
    return out, grad_values, grad_rates


def _product(edges: Edges, numbers: Tensor, dense: Tensor, kernel: str) -> Tensor:
    if kernel == "torch":
        return edges.pattern.times(numbers, dense)
    parts: Any = (numbers.numpy(), edges.pattern.columns_of.numpy(), edges.pattern.pointers.numpy())
    matrix = scipy.sparse.csr_matrix(parts, shape=edges.pattern.shape)
    return torch.from_numpy(matrix @ dense.numpy())


def scatter_step(edges: Edges, values: Tensor, rates: Tensor, back: Tensor) -> tuple[Tensor, ...]:
    """Forward and backward by gathering a message for every edge and adding it up, in chunks."""
    weights, slopes = edges.weights(rates)
    out, grad_values = torch.zeros_like(values), torch.zeros_like(values)
    grad_rates = torch.zeros_like(rates)
    for first in range(0, len(weights), CHUNK):
        run = slice(first, first + CHUNK)
        messages = values.index_select(0, edges.sources[run]) * weights[run, None]
        out.index_add_(0, edges.targets[run], messages)
    for first in range(0, len(weights), CHUNK):
        run = slice(first, first + CHUNK)
        received = back.index_select(0, edges.targets[run])
        dots = (received * values.index_select(0, edges.sources[run])).sum(1)
        grad_rates.index_add_(0, edges.targets[run], dots * slopes[run])
        grad_values.index_add_(0, edges.sources[run], received * weights[run, None])
    return out, grad_values, grad_rates
