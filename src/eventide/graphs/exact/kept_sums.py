"""Bucket sums that are kept between steps.

Layer 1 reads the features, which never change: its sums are computed once. Stale sums are sums of
hidden states from some steps earlier; the states of the current batch are newer.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.exact.attention import average_sums
from eventide.graphs.exact.bucket_index import Blocks, BucketIndex, Direct, Readers, Reads
from eventide.graphs.exact.gather_schedule import GatherSchedules
from eventide.graphs.exact.products import FixedMatrix
from eventide.graphs.incidence import Ints, ranges

SCHEDULE_ALL_SHARE = 0.3


class ConstantAverages:
    """Fixed sums and their readers."""

    def __init__(self, sums: Tensor, values: Tensor, readers: Readers) -> None:
        self._sums, self._values, self._readers = sums, values, readers
        self._whole: GatherSchedules | None = None

    def average(self, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average around ``rows`` (all if None); gradients flow to ``rates`` alone.

        For many rows, the cached schedule of all readers is faster than a new schedule for some.
        """
        if rows is None:
            return average_sums(self._sums, self._values, rates, self._all())
        many = len(rows) > SCHEDULE_ALL_SHARE * len(self._readers.profile)
        if many and len(torch.unique(rows)) == len(rows):
            every = rates.new_zeros(len(self._readers.profile)).index_copy(0, rows, rates)
            return average_sums(self._sums, self._values, every, self._all())[rows]
        schedules = GatherSchedules(self._readers.take(rows.cpu().numpy()), self._sums.device)
        return average_sums(self._sums, self._values, rates, schedules)

    @property
    def stored_bytes(self) -> int:
        """Memory that the sums take, beside the values themselves."""
        return self._sums.numel() * self._sums.element_size()

    def _all(self) -> GatherSchedules:
        if self._whole is None:
            self._whole = GatherSchedules(self._readers, self._sums.device)
        return self._whole


def profile_time_bytes(bucket_index: BucketIndex, values: Tensor) -> int:
    """Bytes that the sums of every (profile, time) would take."""
    rows = len(bucket_index.readers.reads.counts.times)
    return rows * values.shape[1] * values.element_size()


def bucket_constant(
    bucket_index: BucketIndex, members: FixedMatrix, values: Tensor
) -> ConstantAverages:
    """Keep the bucket sums."""
    return ConstantAverages(members.plain(values), values, bucket_index.readers)


def profile_time_constant(
    bucket_index: BucketIndex, members: FixedMatrix, values: Tensor
) -> ConstantAverages:
    """Keep the sum of every (profile, time)."""
    readers = bucket_index.readers
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

    def matrix(owner: Ints, times: Ints, columns: Ints, values: Ints, width: int) -> object:
        wanted = owner * len(moments) + np.searchsorted(moments, times)
        index = np.minimum(np.searchsorted(codes, wanted), max(len(codes) - 1, 0))
        # where the net count is zero there is no neighbour, and the signed sum is zero too
        there = codes[index] == wanted if len(codes) else np.zeros(len(wanted), dtype=bool)
        return scipy.sparse.csr_array(
            (values[there], (index[there], columns[there])), shape=(len(codes), width)
        )

    profiles = np.arange(len(counts.pointers) - 1)
    owner = np.repeat(profiles, np.diff(reads.pointers))
    lengths = blocks.lengths[reads.blocks]
    index = ranges(blocks.pointers[reads.blocks], lengths)
    ones = np.ones(len(index), dtype=np.int64)
    by_bucket = matrix(
        np.repeat(owner, lengths), blocks.times[index], blocks.rows[index], ones, readers.buckets
    )
    single = np.repeat(profiles, np.diff(direct.pointers))
    by_message = matrix(
        single, direct.times, direct.messages, direct.coefficients, readers.messages
    )
    return by_bucket, by_message
