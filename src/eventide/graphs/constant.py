"""Averages of values that never change: layer 1 reads the features, so its sums are made once.

Two exact ways. Under a memory budget, the sum of a profile's neighbours at each time is stored
(messages with the same elements share it), and reading is one weighted sum. Above the budget the
much smaller bucket sums are stored and read like those of any other layer.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.averages import average_sums
from eventide.graphs.incidence import Ints, ranges
from eventide.graphs.layout import Blocks, Direct, Layout, Readers, Reads
from eventide.graphs.plan import Plans
from eventide.graphs.products import FixedMatrix

PLANNED_SHARE = 0.3


class ConstantAverages:
    """Fixed sums and who reads them."""

    def __init__(self, sums: Tensor, values: Tensor, readers: Readers) -> None:
        self._sums, self._values, self._readers = sums, values, readers
        self._whole: Plans | None = None

    def average(self, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average around ``rows`` (all if None); gradients flow to ``rates`` alone.

        For many rows reading all by the plan at hand is quicker than planning for some.
        """
        if rows is None:
            return average_sums(self._sums, self._values, rates, self._all())
        many = len(rows) > PLANNED_SHARE * len(self._readers.profile)
        if many and len(torch.unique(rows)) == len(rows):
            every = rates.new_zeros(len(self._readers.profile)).index_copy(0, rows, rates)
            return average_sums(self._sums, self._values, every, self._all())[rows]
        plans = Plans(self._readers.take(rows.cpu().numpy()), self._sums.device)
        return average_sums(self._sums, self._values, rates, plans)

    @property
    def stored_bytes(self) -> int:
        """Memory that the sums take, beside the values themselves."""
        return self._sums.numel() * self._sums.element_size()

    def _all(self) -> Plans:
        if self._whole is None:
            self._whole = Plans(self._readers, self._sums.device)
        return self._whole


def profile_time_bytes(layout: Layout, values: Tensor) -> int:
    """What the sums of every (profile, time) would take."""
    rows = len(layout.readers.reads.counts.times)
    return rows * values.shape[1] * values.element_size()


def bucket_constant(layout: Layout, members: FixedMatrix, values: Tensor) -> ConstantAverages:
    """Keep the bucket sums."""
    return ConstantAverages(members.plain(values), values, layout.readers)


def profile_time_constant(layout: Layout, members: FixedMatrix, values: Tensor) -> ConstantAverages:
    """Keep the sum of every (profile, time)."""
    readers = layout.readers
    counts = readers.reads.counts
    from_buckets, from_values = (FixedMatrix(part) for part in _composition(readers))
    sums = from_buckets.plain(members.plain(values)) + from_values.plain(values)
    profiles = np.arange(len(counts.pointers), dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    reads = Reads(
        profiles,
        profiles[:-1],
        Direct(np.zeros_like(profiles), nothing, nothing, nothing),
        counts,
    )
    blocks = Blocks(counts.pointers, np.arange(len(counts.times)), counts.times)
    whole = Readers(readers.profile, readers.times, reads, blocks, len(counts.times), 0)
    return ConstantAverages(sums, values[:0], whole)


def _composition(readers: Readers) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Matrices that add bucket sums, and values, up to the sums of each (profile, time)."""
    reads, blocks = readers.reads, readers.blocks
    counts, direct = reads.counts, reads.direct
    moments = np.unique(np.concatenate([counts.times, blocks.times, direct.times]))
    owners = np.repeat(np.arange(len(counts.pointers) - 1), np.diff(counts.pointers))
    codes = owners * len(moments) + np.searchsorted(moments, counts.times)

    def matrix(owner: Ints, times: Ints, columns: Ints, numbers: Ints, width: int) -> object:
        wanted = owner * len(moments) + np.searchsorted(moments, times)
        place = np.minimum(np.searchsorted(codes, wanted), max(len(codes) - 1, 0))
        # where the net count is zero there is no neighbour, and the signed sum is nothing too
        there = codes[place] == wanted if len(codes) else np.zeros(len(wanted), dtype=bool)
        return scipy.sparse.csr_array(
            (numbers[there], (place[there], columns[there])), shape=(len(codes), width)
        )

    profiles = np.arange(len(counts.pointers) - 1)
    owner = np.repeat(profiles, np.diff(reads.pointers))
    lengths = blocks.lengths[reads.blocks]
    place = ranges(blocks.pointers[reads.blocks], lengths)
    ones = np.ones(len(place), dtype=np.int64)
    by_bucket = matrix(
        np.repeat(owner, lengths), blocks.times[place], blocks.rows[place], ones, readers.buckets
    )
    single = np.repeat(profiles, np.diff(direct.pointers))
    by_message = matrix(
        single, direct.times, direct.messages, direct.coefficients, readers.messages
    )
    return by_bucket, by_message
