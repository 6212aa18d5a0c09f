"""A gather schedule: for some readers, which bucket rows are read at which time distance.

Large blocks are read by dense products: every message with a key reads all times of that key, so
the weights of a block form a full matrix [messages with the key, times of the key]. Small blocks
are entries of one sparse product, and direct reads are entries of another. The reads of a schedule
are ordered: sparse, direct, dense.
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

# a block with at least so many weights and so many times is read by a dense product
DENSE_ENTRIES = 512
DENSE_TIMES = 3
# reads per schedule, and reads whose schedule is kept for the next call
CHUNK_ENTRIES = 8_000_000
KEPT_ENTRIES = 160_000_000
NEVER = np.iinfo(np.int64).min
# a table of all (reader, time) may have so many slots per entry
TABLE_EACH = 16

Chosen = slice | Tensor
"""Some of the rows of a tensor."""


@dataclass(frozen=True)
class DenseBlock:
    """One block with many readers: its weights [readers, times] begin at ``start`` in all reads."""

    start: int
    readers: Tensor
    buckets: Tensor

    def weights(self, reads: Tensor) -> Tensor:
        """The matrix [readers, times] from a tensor with one value for each read."""
        size = (len(self.readers), len(self.buckets))
        return reads[self.start : self.start + size[0] * size[1]].view(size)


@dataclass(frozen=True)
class GatherSchedule:
    """The reads of ``readers`` readers, in the form that the attention needs.

    count_*: how many neighbours a reader has at which distance, ordered by reader. ``read_slots``
    gives for every read the index of its (reader, distance) there. ``sparse`` places reads among
    the bucket rows, ``direct`` among the values, ``dense`` holds the others. Where readers read
    earlier messages alone, ``allowed`` says which of their times count, and ``own`` where the value
    of each reader itself is, which always counts.
    """

    readers: int
    farthest: Tensor
    count_pointers: Tensor
    count_readers: Tensor
    count_values: Tensor
    count_distances: Tensor
    read_slots: Tensor
    sparse: Pattern
    direct: Pattern
    direct_coefficients: Tensor
    dense: tuple[DenseBlock, ...]
    allowed: Tensor | None = None
    own: Tensor | None = None


class GatherSchedules:
    """Schedules for all readers, in chunks that bound the memory; cached if they are small.

    Without ``keep`` never cached: who goes through them once needs but one at a time. Where there
    are several chunks and the order may be any (``reorder``), readers of the same come together.
    """

    def __init__(
        self,
        readers: Readers,
        device: torch.device,
        chunk: int = CHUNK_ENTRIES,
        *,
        keep: bool = True,
        reorder: bool = False,
    ) -> None:
        self.count = len(readers.profile)
        sizes = readers.sizes() + 1
        self._order: Ints | None = None
        if reorder and sizes.sum() > chunk:
            self._order = readers.together()
            readers, sizes = readers.take(self._order), sizes[self._order]
        self._readers, self._device = readers, device
        total = np.cumsum(sizes)
        self._bounds = [0, self.count]
        if self.count and total[-1] > chunk:
            wanted = np.arange(chunk, total[-1], chunk)
            cuts = np.searchsorted(total, wanted)
            self._bounds = [0, *np.unique(cuts[(cuts > 0) & (cuts < self.count)]), self.count]
        self.kept = keep and (self.count == 0 or total[-1] <= KEPT_ENTRIES)
        self._schedules: dict[int, GatherSchedule] = {}

    @property
    def several(self) -> bool:
        """Whether there is more than one chunk."""
        return len(self._bounds) > 2

    def __iter__(self) -> Iterator[tuple[Chosen, GatherSchedule]]:
        """The readers of each chunk and their schedule."""
        for first, last in zip(self._bounds[:-1], self._bounds[1:], strict=True):
            steps = self._schedules.get(first)
            if steps is None:
                steps = schedule(self._readers.take(np.arange(first, last)), self._device)
                if self.kept:
                    self._schedules[first] = steps
            if self._order is None:
                yield slice(int(first), int(last)), steps
            else:
                yield torch.from_numpy(self._order[first:last]).to(self._device), steps


def schedule(readers: Readers, device: torch.device) -> GatherSchedule:
    """Build the schedule of these readers."""
    profile, times, reads, blocks = readers.profile, readers.times, readers.reads, readers.blocks
    count = len(profile)
    lengths = np.diff(reads.pointers)[profile]
    reader = np.repeat(np.arange(count), lengths)
    block = reads.blocks[ranges(reads.pointers[profile], lengths)]
    # index among the blocks that are read: a look-up reads few of very many
    read, number, popularity = np.unique(block, return_inverse=True, return_counts=True)
    length = blocks.lengths[read]
    large = ((popularity * length >= DENSE_ENTRIES) & (length >= DENSE_TIMES))[number]
    order = np.concatenate(
        [np.flatnonzero(~large), np.flatnonzero(large)[np.argsort(block[large], kind="stable")]]
    )
    reader, block = reader[order], block[order]
    small = len(order) - int(large.sum())
    sizes = blocks.lengths[block]
    entries = ranges(blocks.pointers[block], sizes)
    each = np.repeat(reader, sizes)
    sparse = int(sizes[:small].sum())

    direct = reads.direct
    singles = np.diff(direct.pointers)[profile]
    single = ranges(direct.pointers[profile], singles)
    alone = np.repeat(np.arange(count), singles)
    all_readers = np.concatenate([each[:sparse], alone, each[sparse:]])
    all_times = np.concatenate(
        [blocks.times[entries[:sparse]], direct.times[single], blocks.times[entries[sparse:]]]
    )

    counts = reads.counts
    lengths = np.diff(counts.pointers)[profile]
    where = ranges(counts.pointers[profile], lengths)
    counted = np.repeat(np.arange(count), lengths)
    older = times[counted] - counts.times[where]
    distances = np.abs(older)
    pointers = offsets(lengths)
    allowed, held_times = None, counts.times[where]
    if readers.gap is not None:
        allowed = older > readers.gap
        if readers.own is None:
            # A look-up counts the own value as the last time of each reader: that one is always
            # allowed, and no read of a message of the same time may take its weight.
            allowed[pointers[1:] - 1] = True
            held_times[pointers[1:] - 1] = NEVER
        # What must not be read has no distance: its weight, which is dropped, stays finite.
        distances = np.where(allowed, distances, 0)
    farthest = np.maximum.reduceat(distances, pointers[:-1]) if count else distances

    def tensor(array: Ints) -> Tensor:
        return torch.from_numpy(array).to(device)

    def compact(array: Ints) -> Tensor:
        # 32 bits halve the memory traffic
        fits = len(array) == 0 or int(array.max()) < 2**31
        return tensor(array.astype(np.int32) if fits else array)

    return GatherSchedule(
        count,
        tensor(farthest),
        tensor(pointers),
        compact(counted),
        compact(counts.values[where]),
        compact(distances),
        compact(_slots(counted, held_times, all_readers, all_times)),
        Pattern(
            tensor(offsets(np.bincount(each[:sparse], minlength=count))),
            tensor(blocks.rows[entries[:sparse]]),
            readers.buckets,
        ),
        Pattern(tensor(offsets(singles)), tensor(direct.messages[single]), readers.messages),
        tensor(direct.coefficients[single]),
        _dense_blocks(tensor(reader[small:]), block[small:], sparse + len(single), blocks, device),
        None if allowed is None else torch.from_numpy(allowed).to(device),
        None if readers.own is None else tensor(readers.own),
    )


def _slots(owners: Ints, times: Ints, readers: Ints, read_times: Ints) -> Ints:
    """The index of each (reader, time) among (owner, time), which contains them all.

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


def _dense_blocks(
    reader: Tensor, block: Ints, start: int, blocks: Blocks, device: torch.device
) -> tuple[DenseBlock, ...]:
    """Cut reads that are sorted by block into one dense block each."""
    blocks_read, firsts = np.unique(block, return_index=True)
    found = []
    for number, first, last in zip(
        blocks_read.tolist(), firsts.tolist(), [*firsts[1:].tolist(), len(block)], strict=False
    ):
        run = blocks.rows[blocks.pointers[number] : blocks.pointers[number + 1]]
        found.append(DenseBlock(start, reader[first:last], torch.from_numpy(run).to(device)))
        start += (last - first) * len(run)
    return tuple(found)
