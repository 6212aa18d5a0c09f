"""The small-batch path: a few new messages that read a memory, one after the other.

``BatchLookup`` schedules the reads of many messages at once. Its fixed cost is several times what a
single message's few sums take. Here each message has short dense vectors of weights instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.exact.bucket_index import Blocks
from eventide.graphs.exact.lookup import MemorySums, Partial, Summing, held_by
from eventide.graphs.incidence import Ints, ranges

SMALL_BATCH = 4
"""Up to this many messages are looked up one by one (benchmarks/lookups.py)."""


@dataclass(frozen=True)
class Holdings:
    """What the subset keys of a memory hold.

    ``blocks`` has a run of bucket rows for each key, the sums of several messages of one time.
    ``singles`` [keys, messages] has the sign of the key where one message is alone at its time,
    ``counts`` [keys, moments] the signed number of messages at each of the ``moments``, which are
    all times there are; ``message_moments`` number those of the messages.
    """

    blocks: Blocks
    singles: scipy.sparse.csr_array
    counts: scipy.sparse.csr_array
    moments: Ints
    message_moments: Ints


@dataclass(frozen=True)
class _Reads:
    """What one message reads: sums and values, by their distance in time.

    ``distances`` are those that occur, with the ``counts`` of neighbours there; ``slots`` find
    the distance of each read, bucket rows first. Values count with their ``signs``.
    """

    rows: Tensor
    messages: Tensor
    signs: Tensor
    slots: Tensor
    distances: Tensor
    farthest: Tensor
    counts: Tensor
    allowed: Tensor

    @classmethod
    def of(cls, holdings: Holdings, keys: Ints, met: Ints, time: int, gap: int | None) -> _Reads:
        """The reads of one message with these subset keys that also meets ``met`` themselves.

        With a ``gap``, what is not more than so many time buckets older does not count.
        """
        blocks, singles, counts = holdings.blocks, holdings.singles, holdings.counts
        place = _entries(blocks.pointers, keys)
        single, counted = _entries(singles.indptr, keys), _entries(counts.indptr, keys)
        messages = np.concatenate([singles.indices[single], met])
        signs = np.concatenate([singles.data[single], np.ones(len(met), dtype=np.int64)])
        at = holdings.message_moments[messages]
        held = np.concatenate([counts.indices[counted], holdings.message_moments[met]])
        each = np.concatenate([counts.data[counted], np.ones(len(met), dtype=np.int64)])
        moments, slots = np.unique(held, return_inverse=True)
        times = holdings.moments[moments]
        allowed = np.ones(len(times), dtype=bool) if gap is None else time - times > gap
        # What must not be read is as good as never there: no weight, no distance.
        distances = np.where(allowed, np.abs(times - time), 0)
        return cls(
            torch.from_numpy(blocks.rows[place]),
            torch.from_numpy(messages.astype(np.int64)),
            torch.from_numpy(signs),
            torch.from_numpy(
                np.concatenate([times.searchsorted(blocks.times[place]), moments.searchsorted(at)])
            ),
            torch.from_numpy(distances),
            torch.tensor(distances.max(initial=0)),
            torch.from_numpy(np.bincount(slots, each, len(moments)).astype(np.int64) * allowed),
            torch.from_numpy(allowed),
        )

    def to(self, device: torch.device) -> _Reads:
        """The same on a device."""
        return _Reads(**{name: each.to(device) for name, each in vars(self).items()})

    def partial(self, held: MemorySums, rate: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Sum, weight and reference of an unfinished average, as in ``Partial``."""
        # integers first, as in ``attention``: one rounding, never an overflow
        reference = torch.where(rate < 0, self.farthest, torch.zeros_like(self.farthest))
        powers = torch.exp(-rate * (self.distances - reference)) * self.allowed
        reads, rows = powers[self.slots], len(self.rows)
        sums = reads[:rows] @ held.sums[self.rows]
        values = (reads[rows:] * self.signs) @ held.values[self.messages]
        return sums + values, powers @ self.counts.to(powers), reference


class SmallBatchLookup:
    """What a few new messages read of a memory; answers as ``BatchLookup`` does."""

    def __init__(
        self,
        holdings: Holdings,
        keys: list[Ints],
        met: list[Ints],
        times: Ints,
        memory: Summing,
        gap: int | None = None,
    ) -> None:
        """``keys`` are the subset keys of each message, ``met`` those it meets without a key."""
        self._memory = memory
        self._reads = [
            _Reads.of(holdings, *each, gap) for each in zip(keys, met, times.tolist(), strict=True)
        ]
        self._device = torch.device("cpu")
        #: how many memory messages each new one meets
        self.neighbours = np.array([int(each.counts.sum()) for each in self._reads])

    def __len__(self) -> int:
        return len(self._reads)

    def average(
        self, memory_values: Tensor | MemorySums, own_values: Tensor, rates: Tensor
    ) -> Tensor:
        """Average over memory neighbours and oneself; differentiable in all three."""
        read = self.partial(memory_values, rates)
        own = torch.exp(rates * read.references)  # the distance is 0
        weights = (read.weights + own)[:, None]
        return (read.sums + own[:, None] * own_values) / weights

    def partial(self, memory_values: Tensor | MemorySums, rates: Tensor) -> Partial:
        """The unfinished average over this memory alone, to be merged with other shards'."""
        held = held_by(self._memory, memory_values)
        if self._device != rates.device:
            self._reads = [each.to(rates.device) for each in self._reads]
            self._device = rates.device
        parts = [each.partial(held, rate) for each, rate in zip(self._reads, rates, strict=True)]
        return Partial(*(torch.stack(part) for part in zip(*parts, strict=True)))


def _entries(pointers: Ints, owners: Ints) -> Ints:
    """Where the items of these owners are."""
    starts = pointers[owners]
    return ranges(starts, pointers[owners + 1] - starts)
