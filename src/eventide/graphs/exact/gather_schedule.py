"""A gather schedule: for some readers, which bucket rows are read at which time distance.

Large blocks are read as dense products: everybody who has a key reads all times of that key, so the
weights of a block form a full rectangle [messages with the key, times of the key]. Small blocks
are spelled out as entries of one sparse product, and so are direct reads. Among the reads of a
schedule the spelled ones come first, then the direct ones, then the rectangles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from eventide.graphs.exact.bucket_index import Blocks, Readers
from eventide.graphs.exact.products import Pattern
from eventide.graphs.incidence import Ints, offsets, ranges

# a rectangle of at least so many weights, over at least so many times, is worth a dense product
DENSE_ENTRIES = 512
DENSE_TIMES = 3
# reads planned at once, and reads whose schedule is kept for the next call
CHUNK_ENTRIES = 8_000_000
KEPT_ENTRIES = 64_000_000
# a table of all (reader, time) may be so many times as large as what it holds
TABLE_EACH = 16


@dataclass(frozen=True)
class Rectangle:
    """One block read by many: its weights [readers, times] begin at ``start`` among all reads."""

    start: int
    readers: Tensor
    buckets: Tensor

    def weights(self, reads: Tensor) -> Tensor:
        """The rectangle [readers, times] out of a tensor with one number for each read."""
        size = (len(self.readers), len(self.buckets))
        return reads[self.start : self.start + size[0] * size[1]].view(size)


@dataclass(frozen=True)
class GatherSchedule:
    """All that the attention needs about ``readers`` readers.

    count_*: how many neighbours a reader has at which distance, readers one after the other.
    ``read_slots`` says for every read which of those (reader, distance) it is at; ``spelled`` and
    ``direct`` place the first reads among the bucket rows and among the values, ``rectangles`` the
    rest.
    """

    readers: int
    farthest: Tensor
    count_pointers: Tensor
    count_readers: Tensor
    count_numbers: Tensor
    count_distances: Tensor
    read_slots: Tensor
    spelled: Pattern
    direct: Pattern
    direct_coefficients: Tensor
    rectangles: tuple[Rectangle, ...]


class GatherSchedules:
    """Schedules for all readers, in chunks that bound the memory; kept if they are small."""

    def __init__(self, readers: Readers, device: torch.device, chunk: int = CHUNK_ENTRIES) -> None:
        self.count = len(readers.profile)
        self._readers, self._device = readers, device
        total = np.cumsum(readers.sizes() + 1)
        self._bounds = [0, self.count]
        if self.count and total[-1] > chunk:
            wanted = np.arange(chunk, total[-1], chunk)
            cuts = np.searchsorted(total, wanted)
            self._bounds = [0, *np.unique(cuts[(cuts > 0) & (cuts < self.count)]), self.count]
        self.kept = self.count == 0 or total[-1] <= KEPT_ENTRIES
        self._schedules: dict[int, GatherSchedule] = {}

    def __iter__(self) -> Iterator[tuple[slice, GatherSchedule]]:
        """The readers of each chunk and their schedule."""
        for first, last in zip(self._bounds[:-1], self._bounds[1:], strict=True):
            steps = self._schedules.get(first)
            if steps is None:
                steps = schedule(self._readers.take(np.arange(first, last)), self._device)
                if self.kept:
                    self._schedules[first] = steps
            yield slice(int(first), int(last)), steps


def schedule(readers: Readers, device: torch.device) -> GatherSchedule:
    """Plan the reads of these readers at once."""
    profile, times, reads, blocks = readers.profile, readers.times, readers.reads, readers.blocks
    count = len(profile)
    lengths = np.diff(reads.pointers)[profile]
    reader = np.repeat(np.arange(count), lengths)
    block = reads.blocks[ranges(reads.pointers[profile], lengths)]
    # numbered among the blocks that are read: a look-up reads few of very many
    read, number, popularity = np.unique(block, return_inverse=True, return_counts=True)
    length = blocks.lengths[read]
    large = ((popularity * length >= DENSE_ENTRIES) & (length >= DENSE_TIMES))[number]
    order = np.concatenate(
        [np.flatnonzero(~large), np.flatnonzero(large)[np.argsort(block[large], kind="stable")]]
    )
    reader, block = reader[order], block[order]
    small = len(order) - int(large.sum())
    sizes = blocks.lengths[block]
    place = ranges(blocks.pointers[block], sizes)
    each = np.repeat(reader, sizes)
    spelled = int(sizes[:small].sum())

    direct = reads.direct
    singles = np.diff(direct.pointers)[profile]
    single = ranges(direct.pointers[profile], singles)
    alone = np.repeat(np.arange(count), singles)
    all_readers = np.concatenate([each[:spelled], alone, each[spelled:]])
    all_times = np.concatenate(
        [blocks.times[place[:spelled]], direct.times[single], blocks.times[place[spelled:]]]
    )

    counts = reads.counts
    numbers = np.diff(counts.pointers)[profile]
    where = ranges(counts.pointers[profile], numbers)
    counted = np.repeat(np.arange(count), numbers)
    distances = np.abs(times[counted] - counts.times[where])
    pointers = offsets(numbers)
    farthest = np.maximum.reduceat(distances, pointers[:-1]) if count else distances

    def tensor(array: Ints) -> Tensor:
        return torch.from_numpy(array).to(device)

    def compact(array: Ints) -> Tensor:
        # half the traffic where 32 bits are enough
        fits = len(array) == 0 or int(array.max()) < 2**31
        return tensor(array.astype(np.int32) if fits else array)

    return GatherSchedule(
        count,
        tensor(farthest),
        tensor(pointers),
        compact(counted),
        compact(counts.numbers[where]),
        compact(distances),
        compact(_slots(counted, counts.times[where], all_readers, all_times)),
        Pattern(
            tensor(offsets(np.bincount(each[:spelled], minlength=count))),
            tensor(blocks.rows[place[:spelled]]),
            readers.buckets,
        ),
        Pattern(tensor(offsets(singles)), tensor(direct.messages[single]), readers.messages),
        tensor(direct.coefficients[single]),
        _rectangles(tensor(reader[small:]), block[small:], spelled + len(single), blocks, device),
    )


def _slots(owners: Ints, times: Ints, readers: Ints, read_times: Ints) -> Ints:
    """Where each (reader, time) that is read stands among (owner, time), which has them all.

    >>> owners, times = np.array([0, 0, 1]), np.array([5, 7, 5])
    >>> _slots(owners, times, np.array([1, 0]), np.array([5, 7])).tolist()
    [2, 1]
    """
    moments = np.unique(times)
    width = max(len(moments), 1)
    held = owners * width + np.searchsorted(moments, times)
    wanted = readers * width + np.searchsorted(moments, read_times)
    size = (int(owners[-1]) + 1) * width if len(owners) else 0
    if size > TABLE_EACH * len(held):
        order = np.argsort(held, kind="stable")
        return np.asarray(order[np.searchsorted(held[order], wanted)], dtype=np.int64)
    table = np.zeros(size, dtype=np.int64)
    table[held] = np.arange(len(held))
    return np.asarray(table[wanted])


def _rectangles(
    reader: Tensor, block: Ints, start: int, blocks: Blocks, device: torch.device
) -> tuple[Rectangle, ...]:
    """Cut reads that are sorted by block into one rectangle for each block."""
    numbers, firsts = np.unique(block, return_index=True)
    found = []
    for number, first, last in zip(
        numbers.tolist(), firsts.tolist(), [*firsts[1:].tolist(), len(block)], strict=False
    ):
        run = blocks.rows[blocks.pointers[number] : blocks.pointers[number + 1]]
        found.append(Rectangle(start, reader[first:last], torch.from_numpy(run).to(device)))
        start += (last - first) * len(run)
    return tuple(found)
