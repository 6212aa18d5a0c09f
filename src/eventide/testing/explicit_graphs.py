"""Neighbourhoods that store every edge: the reference that tests and benchmarks compare with.

They are easy to read and slow: an element that n messages share gives n * n edges. The library
itself uses ``eventide.graphs.neighbourhood``, which gives the same averages without edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.incidence import Incidence, Ints, shared_counts, shared_pairs


def edge_average(
    targets: Tensor, sources: Tensor, distances: Tensor, values: Tensor, rates: Tensor
) -> Tensor:
    """Softmax over each target's edges of -rate * distance, then the weighted sum of ``values``.

    ``targets`` [edges] are rows of ``rates``, ``sources`` [edges] rows of ``values``.
    """
    scores = -rates[targets] * distances.to(rates.dtype)
    top = torch.full_like(rates, -torch.inf)
    top = top.scatter_reduce(0, targets, scores.detach(), "amax")
    weights = torch.exp(scores - top[targets])
    total = torch.zeros_like(rates).index_add(0, targets, weights)
    weights = weights / total[targets]
    out = values.new_zeros(len(rates), values.shape[1])
    return out.index_add(0, targets, weights[:, None] * values[sources])


class ExplicitNeighbourhood:
    """Edges (i, j, abs(t_i - t_j)), including (i, i).

    >>> around = ExplicitNeighbourhood(Incidence.of([["a"], ["a", "b"], ["c"]]), [0, 1, 0])
    >>> around.average(torch.tensor([[1.0], [3.0], [5.0]]), torch.zeros(3)).flatten().tolist()
    [2.0, 2.0, 5.0]
    """

    def __init__(
        self, incidence: Incidence, times: Ints | list[int], gap: int | None = None
    ) -> None:
        """With a ``gap`` only edges to what is more than so much older, and to oneself."""
        moments = torch.from_numpy(np.asarray(times, dtype=np.int64))
        count = len(incidence)
        oneself = scipy.sparse.eye_array(count, dtype=np.int32, format="csr")
        edges = shared_counts(incidence, incidence)
        if gap is not None:
            pairs, at = edges.tocoo(), moments.numpy()
            older = at[pairs.row] - at[pairs.col] > gap
            places = (pairs.row[older], pairs.col[older])
            edges = scipy.sparse.csr_array((pairs.data[older], places), shape=pairs.shape)
        edges = scipy.sparse.csr_array(edges + oneself)
        edges.sort_indices()
        self.pointers = torch.from_numpy(edges.indptr.astype(np.int64))
        self.sources = torch.from_numpy(edges.indices.astype(np.int64))
        self.targets = torch.repeat_interleave(torch.arange(count), self.pointers.diff())
        self.distances = (moments[self.targets] - moments[self.sources]).abs()

    def __len__(self) -> int:
        return len(self.pointers) - 1

    def average(self, values: Tensor, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average ``values`` around ``rows`` (all if None), edge by edge."""
        rows = torch.arange(len(self)) if rows is None else rows
        lengths = self.pointers[rows + 1] - self.pointers[rows]
        targets = torch.repeat_interleave(torch.arange(len(rows)), lengths)
        starts = self.pointers[rows] - (torch.cumsum(lengths, 0) - lengths)
        edges = torch.arange(len(targets)) + starts[targets]
        return edge_average(targets, self.sources[edges], self.distances[edges], values, rates)

    def around(self, rows: Tensor) -> ExplicitSurroundings:
        """Take all messages as the surroundings of ``rows``: simple, not fast."""
        return ExplicitSurroundings(self, torch.arange(len(self)), rows)

    def constant(self, values: Tensor) -> ExplicitConstant:
        """Averages of values that never change."""
        return ExplicitConstant(self, values.detach())


@dataclass(frozen=True)
class ExplicitSurroundings:
    """Some messages among all."""

    neighbourhood: ExplicitNeighbourhood
    sources: Tensor
    own: Tensor

    def average(self, values: Tensor, rates: Tensor) -> Tensor:
        """Average ``values`` of all messages around these."""
        return self.neighbourhood.average(values, rates, self.own)


class ExplicitConstant:
    """Fixed values beside the edges they are averaged over."""

    def __init__(self, neighbourhood: ExplicitNeighbourhood, values: Tensor) -> None:
        self._neighbourhood = neighbourhood
        self._values = values

    def average(self, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average around ``rows`` (all if None); gradients flow to ``rates`` alone."""
        return self._neighbourhood.average(self._values, rates, rows)


class ExplicitMemory:
    """Messages that new messages look up.

    >>> memory = ExplicitMemory(Incidence.of([["a"], ["b"]]), [0, 0])
    >>> seen = memory.lookup(Incidence.of([["a", "b"], ["c"]]), [0, 0])
    >>> known, own = torch.tensor([[1.0], [4.0]]), torch.tensor([[7.0], [9.0]])
    >>> seen.average(known, own, torch.zeros(2)).flatten().tolist()
    [4.0, 9.0]
    """

    def __init__(
        self, incidence: Incidence, times: Ints | list[int], gap: int | None = None
    ) -> None:
        """With a ``gap`` new messages meet only what is more than so much older."""
        self._incidence, self._gap = incidence, gap
        self._times = np.asarray(times, dtype=np.int64)

    def lookup(self, new: Incidence, times: Ints | list[int]) -> ExplicitLookup:
        """The memory's neighbours of each new message."""
        rows, columns = shared_pairs(new, self._incidence)
        at = np.asarray(times, dtype=np.int64)
        if self._gap is not None:
            older = at[rows] - self._times[columns] > self._gap
            rows, columns = rows[older], columns[older]
        return ExplicitLookup(rows, columns, at, self._times)


class ExplicitLookup:
    """Edges from new messages into the memory, and to themselves."""

    def __init__(self, rows: Ints, columns: Ints, new_times: Ints, memory_times: Ints) -> None:
        own = np.arange(len(new_times), dtype=np.int64)
        distances = np.abs(new_times[rows] - memory_times[columns])
        self._targets = torch.from_numpy(np.concatenate([rows, own]))
        self._sources = torch.from_numpy(np.concatenate([columns, own + len(memory_times)]))
        self._distances = torch.from_numpy(np.concatenate([distances, np.zeros_like(own)]))

    def average(self, memory_values: Tensor, own_values: Tensor, rates: Tensor) -> Tensor:
        """Average over neighbours in the memory and the message itself."""
        values = torch.cat([memory_values, own_values])
        return edge_average(self._targets, self._sources, self._distances, values, rates)
