"""A memory that messages join without its being built again: segments, as in a log of runs.

Every joining adds a segment. Neighbouring segments are merged before the last is half as large as
the one before it, so that there are few, and each message is built into a segment a few times only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from eventide.graphs.exact.lookup import BatchLookup, MemorySums, across_shards
from eventide.graphs.exact.small_batch_lookup import SmallBatchLookup
from eventide.graphs.incidence import Incidence, Ints, joined
from eventide.graphs.memory import Memory

LARGER = 2
"""A segment is at least so many times as large as the next one."""


@dataclass(frozen=True, eq=False)
class SegmentSums:
    """Bucket sums of a memory's values, segment by segment."""

    segments: tuple[Memory, ...]
    parts: tuple[MemorySums, ...]


class SegmentLookup:
    """What new messages read of the segments; answers as a look-up of one memory does."""

    def __init__(self, found: Sequence[BatchLookup | SmallBatchLookup]) -> None:
        self._found = found
        #: how many memory messages each new one meets
        self.neighbours: Ints = np.sum([each.neighbours for each in found], axis=0)

    def __len__(self) -> int:
        return len(self.neighbours)

    def average(self, memory_values: SegmentSums, own_values: Tensor, rates: Tensor) -> Tensor:
        """Average over memory neighbours and oneself."""
        if len(self._found) == 1:
            return self._found[0].average(memory_values.parts[0], own_values, rates)
        pairs = list(zip(self._found, memory_values.parts, strict=True))
        return across_shards(pairs, own_values, rates)


class GrowingMemory:
    """Segments of a memory in the order of its messages; look-ups answer as those of `Memory`.

    >>> import torch
    >>> whole = GrowingMemory((Memory(Incidence.of([["a"], ["b"]]), [0, 0]),))
    >>> whole = whole.joined(Incidence.of([["a", "b"]]), np.array([0]))
    >>> seen = whole.lookup(Incidence.of([["a", "b"], ["c"]]), np.array([0, 0]))
    >>> known, own = torch.tensor([[1.0], [4.0], [4.0]]), torch.tensor([[7.0], [9.0]])
    >>> seen.average(whole.sums(known), own, torch.zeros(2)).flatten().tolist()
    [4.0, 9.0]
    """

    def __init__(self, segments: tuple[Memory, ...], most: int | None = None) -> None:
        """``most``: see ``Memory``."""
        self.segments, self._most = segments, most

    def __len__(self) -> int:
        return sum(len(each) for each in self.segments)

    def joined(self, incidence: Incidence, times: Ints) -> GrowingMemory:
        """Return this memory and, after it, these messages; this one stays as it is."""
        gap = self.segments[0].gap
        segments = [*self.segments, Memory(incidence, times, self._most, gap)]
        while len(segments) > 1 and LARGER * len(segments[-1]) > len(segments[-2]):
            last, before = segments.pop(), segments.pop()
            both = joined(before.incidence, last.incidence)
            moments = np.concatenate([before.times, last.times])
            segments.append(Memory(both, moments, self._most, gap))
        return GrowingMemory(tuple(segments), self._most)

    def lookup(self, new: Incidence, times: Ints) -> SegmentLookup:
        """Find the neighbours of new messages in all segments."""
        return SegmentLookup([each.lookup(new, times) for each in self.segments])

    def sums(self, values: Tensor, older: SegmentSums | None = None) -> SegmentSums:
        """Sum ``values`` [memory, width] into buckets; ``older`` sums of the same values are kept.

        They are of a memory that this one has grown out of.
        """
        pairs = [] if older is None else zip(older.segments, older.parts, strict=True)
        known = {id(segment): part for segment, part in pairs}
        parts, start = [], 0
        for each in self.segments:
            own = values[start : start + len(each)]
            there = known.get(id(each))
            parts.append(each.sums(own) if there is None else MemorySums(there.sums, own))
            start += len(each)
        return SegmentSums(self.segments, tuple(parts))


def in_segments(memory: GrowingMemory, sums: MemorySums | SegmentSums) -> SegmentSums:
    """Return sums of a memory of one segment as those of its segments; others are returned."""
    return sums if isinstance(sums, SegmentSums) else SegmentSums(memory.segments, (sums,))
