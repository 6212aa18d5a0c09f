"""Exact neighbourhood averages without edges (SPEED.md): the default for training."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from eventide.graphs.averages import average_values
from eventide.graphs.closed import closed_layout
from eventide.graphs.constant import (
    ConstantAverages,
    bucket_constant,
    profile_time_bytes,
    profile_time_constant,
)
from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.plan import Plans
from eventide.graphs.products import FixedMatrix
from eventide.graphs.rare import RARE

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
        """``most``, ``rare``: see ``closed_layout``; ``memory_budget`` (bytes): ``constant``."""
        self.memory_budget = memory_budget
        self.layout = closed_layout(incidence, np.asarray(times, dtype=np.int64), most, rare)
        self._members = FixedMatrix(self.layout.members)
        self._whole: dict[torch.device, Plans] = {}

    def __len__(self) -> int:
        return len(self.layout)

    def average(self, values: Tensor, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average ``values`` around ``rows`` (all if None)."""
        if rows is None:
            return average_values(values, rates, self._members, self._all(values.device))
        # a batch reads few of the buckets: only those are summed
        readers, buckets = self.layout.readers.only(rows.cpu().numpy())
        members = FixedMatrix(self.layout.members[buckets])
        return average_values(values, rates, members, Plans(readers, values.device))

    def constant(self, values: Tensor) -> ConstantAverages:
        """Averages of values that never change, prepared within the memory budget."""
        values = values.detach()
        fits = profile_time_bytes(self.layout, values) <= self.memory_budget
        prepare = profile_time_constant if fits else bucket_constant
        return prepare(self.layout, self._members, values)

    def _all(self, device: torch.device) -> Plans:
        """How to read around all messages, kept."""
        if device not in self._whole:
            self._whole[device] = Plans(self.layout.readers, device)
        return self._whole[device]
