"""Exact neighbourhood averages without edges (SPEED.md): the default for training."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.exact.attention import average_values
from eventide.graphs.exact.bucket_index import BucketIndex
from eventide.graphs.exact.gather_schedule import GatherSchedules
from eventide.graphs.exact.index_building import RARE, closed_bucket_index
from eventide.graphs.exact.kept_sums import (
    ConstantAverages,
    bucket_constant,
    profile_time_bytes,
    profile_time_constant,
)
from eventide.graphs.exact.products import FixedMatrix
from eventide.graphs.exact.shared_states import SharedStates
from eventide.graphs.incidence import Incidence, Ints

MEMORY_BUDGET = 1 << 30  # bytes


class BucketedNeighbourhood:
    """Average over everybody who shares an element, each once and oneself included.

    >>> around = BucketedNeighbourhood(Incidence.of([["a"], ["a", "b"], ["c"]]), [0, 1, 0])
    >>> around.average(torch.tensor([[1.0], [3.0], [5.0]]), torch.zeros(3)).flatten().tolist()
    [2.0, 2.0, 5.0]
    """

    def __init__(
        self,
        incidence: Incidence,
        times: Ints | list[int],
        most: int | None = None,
        rare: int = RARE,
        memory_budget: int = MEMORY_BUDGET,
    ) -> None:
        """``most``, ``rare``: see ``closed_bucket_index``; ``memory_budget`` in bytes."""
        self.memory_budget = memory_budget
        self.bucket_index = closed_bucket_index(
            incidence, np.asarray(times, dtype=np.int64), most, rare
        )
        self._members = FixedMatrix(self.bucket_index.members)
        self._whole: dict[torch.device, GatherSchedules] = {}

    def earlier(self, gap: int) -> BucketedNeighbourhood:
        """The same messages, each averaging over those more than ``gap`` time buckets older.

        And over itself, always.

        >>> same = Incidence.of([["a"], ["a"], ["a"]])
        >>> around = BucketedNeighbourhood(same, [0, 1, 3]).earlier(1)
        >>> around.average(torch.tensor([[1.0], [3.0], [8.0]]), torch.zeros(3)).flatten().tolist()
        [1.0, 3.0, 4.0]
        """
        other = copy(self)
        readers = self.bucket_index.readers.earlier(gap)
        other.bucket_index = replace(self.bucket_index, readers=readers)
        other._whole = {}
        return other

    def __len__(self) -> int:
        return len(self.bucket_index)

    def average(self, values: Tensor, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average ``values`` around ``rows`` (all if None)."""
        if rows is None:
            return average_values(values, rates, self._members, self._all(values.device))
        near = self.around(rows)
        return near.average(values[near.sources], rates)

    def around(self, rows: Tensor) -> BucketedSurroundings:
        """Find everybody that ``rows`` average over: a batch reads few of the buckets."""
        return BucketedSurroundings(self.bucket_index, rows)

    def constant(self, values: Tensor) -> ConstantAverages:
        """Averages of values that never change, prepared within the memory budget."""
        values = values.detach()
        fits = profile_time_bytes(self.bucket_index, values) <= self.memory_budget
        prepare = profile_time_constant if fits else bucket_constant
        return prepare(self.bucket_index, self._members, values)

    def share(self, states: Tensor, rows: Ints) -> SharedStates:
        """Let several steps read ``states`` [messages, width] and send their gradients together.

        The steps read around ``rows`` alone: what these do not read is not kept.
        """
        return SharedStates(self.bucket_index, states, rows)

    def kept_rows(self) -> int:
        """Rows of values and sums that an average around all messages keeps for its gradient."""
        return len(self.bucket_index) + self.bucket_index.readers.buckets

    def _all(self, device: torch.device) -> GatherSchedules:
        """How to read around all messages, kept."""
        if device not in self._whole:
            self._whole[device] = GatherSchedules(self.bucket_index.readers, device, reorder=True)
        return self._whole[device]


class BucketedSurroundings:
    """What some messages read: their buckets, and everybody in those."""

    def __init__(self, bucket_index: BucketIndex, rows: Tensor) -> None:
        wanted = rows.cpu().numpy()
        readers, buckets = bucket_index.readers.only(wanted)
        members, direct = bucket_index.members[buckets], readers.reads.direct
        near = np.zeros(len(bucket_index), dtype=bool)
        for part in (members.indices, direct.messages, wanted):
            near[part] = True
        sources = np.flatnonzero(near)
        place = np.cumsum(near) - 1
        members = scipy.sparse.csr_array(
            (members.data, place[members.indices], members.indptr),
            shape=(len(buckets), len(sources)),
        )
        self._members, self._readers = FixedMatrix(members), readers.among(sources)
        self.sources = torch.from_numpy(sources).to(rows.device)
        self.own = torch.from_numpy(place[wanted]).to(rows.device)

    def average(self, values: Tensor, rates: Tensor) -> Tensor:
        """Average ``values`` [sources, width] around the messages, one rate for each of them."""
        return average_values(
            values, rates, self._members, GatherSchedules(self._readers, values.device)
        )
