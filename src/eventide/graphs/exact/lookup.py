"""New messages that read a memory: their own value counts once, the memory does not change.

Averages over parts of a memory merge like an online softmax: rescale to one reference, add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.exact.attention import average_sums
from eventide.graphs.exact.bucket_index import Blocks, Direct, Readers, Reads, TimeCounts
from eventide.graphs.exact.gather_schedule import GatherSchedule, GatherSchedules
from eventide.graphs.incidence import Ints, offsets


@dataclass(frozen=True)
class Partial:
    """An unfinished average: sums and weights of exp(-rate * (distance - reference)).

    ``sums`` [readers, width], ``weights`` [readers], ``references`` [readers] whole distances.
    """

    sums: Tensor
    weights: Tensor
    references: Tensor

    def average(self) -> Tensor:
        """The finished average."""
        return self.sums / self.weights[:, None]


def own_partial(values: Tensor, rates: Tensor) -> Partial:
    """Oneself: distance and reference 0, weight 1."""
    return Partial(
        values,
        torch.ones_like(rates),
        torch.zeros(len(rates), dtype=torch.int64, device=rates.device),
    )


def merge(partials: Sequence[Partial], rates: Tensor) -> Partial:
    """Join partial averages over disjoint messages, for the rates they were made with.

    >>> rates = torch.tensor([-1.0])
    >>> near = Partial(torch.tensor([[2.0]]), torch.tensor([1.0]), torch.tensor([0]))
    >>> far = Partial(torch.tensor([[4.0]]), torch.tensor([1.0]), torch.tensor([900]))
    >>> merge([near, far], rates).average().tolist()
    [[4.0]]
    """
    reference = torch.stack([part.references for part in partials]).amax(0)
    # whole distances are subtracted before the rate multiplies them: no rounding, no overflow
    scales = [torch.exp(-rates * (part.references - reference)) for part in partials]
    sums = torch.stack(
        [part.sums * scale[:, None] for part, scale in zip(partials, scales, strict=True)]
    )
    weights = torch.stack(
        [part.weights * scale for part, scale in zip(partials, scales, strict=True)]
    )
    return Partial(sums.sum(0), weights.sum(0), reference)


@dataclass(frozen=True)
class MemorySums:
    """Bucket sums of the memory's values beside the values: made once, read by many look-ups."""

    sums: Tensor
    values: Tensor


class Summing(Protocol):
    """What can sum the memory's values into buckets."""

    def sums(self, values: Tensor) -> MemorySums:
        """Bucket sums of ``values``."""


class Splitting(Protocol):
    """A look-up whose average can be left unfinished, to be merged with others."""

    def partial(self, memory_values: Tensor | MemorySums, rates: Tensor) -> Partial:
        """The unfinished average over one memory."""


def held_by(memory: Summing, values: Tensor | MemorySums) -> MemorySums:
    """The memory's ``values`` with their sums, which are made unless they are there."""
    return values if isinstance(values, MemorySums) else memory.sums(values)


class BatchLookup:
    """What new messages read of a memory."""

    def __init__(
        self,
        times: Ints,
        keys: tuple[Ints, Ints],
        blocks: Blocks,
        singles: scipy.sparse.csr_array,
        memory_times: Ints,
        counts: tuple[scipy.sparse.csr_array, Ints],
        memory: Summing,
        gap: int | None = None,
    ) -> None:
        """``keys`` are (pointers, blocks) per message, ``singles`` direct reads [new, memory].

        With a ``gap`` a message reads only what is more than so many time buckets older.
        """
        self._memory = memory
        found = TimeCounts.of(*counts)
        met = counts[0] if gap is None else _older(counts, times, gap)
        #: how many memory messages each new one meets
        self.neighbours = np.asarray(met.sum(axis=1)).ravel().astype(np.int64)
        singles = scipy.sparse.csr_array(singles)
        singles.eliminate_zeros()
        direct = Direct(
            singles.indptr.astype(np.int64),
            singles.indices.astype(np.int64),
            memory_times[singles.indices],
            singles.data.astype(np.int64),
        )
        # the own value is counted but not read here: no source holds it
        lengths = np.diff(found.pointers)
        ends = offsets(lengths + 1)[1:] - 1
        moments, counts_of = (np.zeros(len(found.times) + len(times), np.int64) for _ in range(2))
        memory_part = np.ones(len(moments), dtype=bool)
        memory_part[ends] = False
        moments[memory_part], counts_of[memory_part] = found.times, found.values
        moments[ends], counts_of[ends] = times, 1
        reads = Reads(*keys, direct, TimeCounts(offsets(lengths + 1), moments, counts_of))
        profile = np.arange(len(times), dtype=np.int64)
        self._readers = Readers(
            profile, times, reads, blocks, len(blocks.rows), len(memory_times), gap
        )
        self._schedules: dict[torch.device, GatherSchedules] = {}

    def __len__(self) -> int:
        return len(self._readers.profile)

    def average(
        self, memory_values: Tensor | MemorySums, own_values: Tensor, rates: Tensor
    ) -> Tensor:
        """Average over memory neighbours and oneself; differentiable in all three."""
        held = held_by(self._memory, memory_values)
        schedules = self._schedule(rates.device)
        shares = torch.cat(
            [
                _own_power(schedule, rates[rows]) / _total(schedule, rates[rows])
                for rows, schedule in schedules
            ]
        )
        read = average_sums(held.sums, held.values, rates, schedules)
        return read + shares[:, None] * own_values

    def partial(self, memory_values: Tensor | MemorySums, rates: Tensor) -> Partial:
        """The unfinished average over this memory alone, to be merged with other shards'."""
        held = held_by(self._memory, memory_values)
        schedules = self._schedule(rates.device)
        total = torch.cat([_total(schedule, rates[rows]) for rows, schedule in schedules])
        own = torch.cat([_own_power(schedule, rates[rows]) for rows, schedule in schedules])
        reference = torch.cat([_reference(schedule, rates[rows]) for rows, schedule in schedules])
        read = average_sums(held.sums, held.values, rates, schedules)
        return Partial(read * total[:, None], (total - own).clamp_min(0), reference)

    def _schedule(self, device: torch.device) -> GatherSchedules:
        if device not in self._schedules:
            self._schedules[device] = GatherSchedules(self._readers, device)
        return self._schedules[device]


def _older(
    counts: tuple[scipy.sparse.csr_array, Ints], times: Ints, gap: int
) -> scipy.sparse.csr_array:
    """Counts [new, moments] of what is more than ``gap`` older than each new message."""
    matrix, moments = counts[0].tocoo(), counts[1]
    older = times[matrix.row] - moments[matrix.col] > gap
    return scipy.sparse.csr_array(
        (matrix.data[older], (matrix.row[older], matrix.col[older])), shape=matrix.shape
    )


def _reference(schedule: GatherSchedule, rates: Tensor) -> Tensor:
    return torch.where(rates < 0, schedule.farthest, torch.zeros_like(schedule.farthest))


def _own_power(schedule: GatherSchedule, rates: Tensor) -> Tensor:
    return torch.exp(rates * _reference(schedule, rates))


def _total(schedule: GatherSchedule, rates: Tensor) -> Tensor:
    """The normaliser of each reader, differentiable."""
    each = schedule.count_readers
    relative = (schedule.count_distances - _reference(schedule, rates)[each]).to(rates.dtype)
    terms = schedule.count_values * torch.exp(-rates[each] * relative)
    if schedule.allowed is not None:
        terms = terms * schedule.allowed
    return torch.zeros_like(rates).index_add(0, each, terms)


def across_shards(
    shards: Sequence[tuple[Splitting, Tensor | MemorySums]], own_values: Tensor, rates: Tensor
) -> Tensor:
    """Average over a memory that is split: every message in exactly one of the shards."""
    partials = [lookup.partial(values, rates) for lookup, values in shards]
    return merge([*partials, own_partial(own_values, rates)], rates).average()
