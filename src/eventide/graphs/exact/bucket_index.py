"""The bucket index: arrays that say which bucket sums and single messages each message reads.

Every message belongs to a profile (its set of elements). A profile reads blocks and, directly,
single messages. A block is a run of bucket rows, one for each time; a bucket row is a signed sum of
messages of that time. For every profile and time the signed counts of all it reads add up to the
number of its neighbours at that time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse

from eventide.graphs.incidence import Ints, offsets, ranges


@dataclass(frozen=True)
class Blocks:
    """Block b holds the bucket rows ``rows[pointers[b]:pointers[b + 1]]``, each with its time."""

    pointers: Ints
    rows: Ints
    times: Ints

    @cached_property
    def lengths(self) -> Ints:
        """How many bucket rows each block has."""
        return np.diff(self.pointers)


@dataclass(frozen=True)
class TimeCounts:
    """Profile p has ``values[k]`` neighbours at ``times[k]``, for k from pointers[p] on."""

    pointers: Ints
    times: Ints
    values: Ints

    @classmethod
    def of(cls, matrix: scipy.sparse.csr_array, moments: Ints) -> TimeCounts:
        """From a profiles-by-times matrix of net counts; its columns are indices of ``moments``."""
        matrix = scipy.sparse.csr_array(matrix)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return cls(
            matrix.indptr.astype(np.int64), moments[matrix.indices], matrix.data.astype(np.int64)
        )


@dataclass(frozen=True)
class Direct:
    """Single messages a profile reads: rows of the values, their times and coefficients."""

    pointers: Ints
    messages: Ints
    times: Ints
    coefficients: Ints


@dataclass(frozen=True)
class Reads:
    """What each profile reads: blocks, single messages, and the counts that both add up to."""

    pointers: Ints
    blocks: Ints
    direct: Direct
    counts: TimeCounts


@dataclass(frozen=True)
class Readers:
    """Messages that read: profile and time of each, and what the profiles read.

    ``buckets`` rows of sums and ``messages`` rows of values are there to be read. With a ``gap``
    they read only what is more than so many time buckets older than themselves, and each its own
    value: row ``own`` of the values, or None where a look-up counts the own value by itself.
    """

    profile: Ints
    times: Ints
    reads: Reads
    blocks: Blocks
    buckets: int
    messages: int
    gap: int | None = None
    own: Ints | None = None

    def sizes(self) -> Ints:
        """How many reads each reader has."""
        lengths = self.blocks.lengths[self.reads.blocks]
        total = np.append(0, np.cumsum(lengths))
        sizes: Ints = total[self.reads.pointers[1:]] - total[self.reads.pointers[:-1]]
        return (sizes + np.diff(self.reads.direct.pointers))[self.profile]

    def only(self, rows: Ints) -> tuple[Readers, Ints]:
        """Some of the readers with only what they read, and the bucket rows that they read."""
        profiles, profile = np.unique(self.profile[rows], return_inverse=True)
        reads, direct, counts = self.reads, self.reads.direct, self.reads.counts
        pointers, entries = _parts(reads.pointers, profiles)
        read, block = np.unique(reads.blocks[entries], return_inverse=True)
        block_pointers, held = _parts(self.blocks.pointers, read)
        direct_pointers, single = _parts(direct.pointers, profiles)
        count_pointers, counted = _parts(counts.pointers, profiles)
        some = Reads(
            pointers,
            block,
            Direct(
                direct_pointers,
                direct.messages[single],
                direct.times[single],
                direct.coefficients[single],
            ),
            TimeCounts(count_pointers, counts.times[counted], counts.values[counted]),
        )
        blocks = Blocks(block_pointers, np.arange(len(held)), self.blocks.times[held])
        readers = Readers(
            profile,
            self.times[rows],
            some,
            blocks,
            len(held),
            self.messages,
            self.gap,
            None if self.own is None else self.own[rows],
        )
        return readers, self.blocks.rows[held]

    def among(self, messages: Ints) -> Readers:
        """The same readers of fewer values: those of ``messages``, which hold all that they read.

        ``messages`` are different rows of the present values.
        """
        place = np.zeros(self.messages, dtype=np.int64)
        place[messages] = np.arange(len(messages))
        direct = replace(self.reads.direct, messages=place[self.reads.direct.messages])
        return replace(
            self,
            reads=replace(self.reads, direct=direct),
            messages=len(messages),
            own=None if self.own is None else place[self.own],
        )

    def take(self, rows: Ints) -> Readers:
        """Some of the readers."""
        return replace(
            self,
            profile=self.profile[rows],
            times=self.times[rows],
            own=None if self.own is None else self.own[rows],
        )

    def together(self) -> Ints:
        """An order in which readers of the same blocks follow each other.

        First by the block that most readers share, then by the one that fewest do: what one of
        them has read is still in the processor's cache for the next.
        """
        profiles = len(self.reads.pointers) - 1
        lengths, blocks = np.diff(self.reads.pointers), self.reads.blocks
        owner = np.repeat(np.arange(profiles), lengths)
        readers = np.bincount(self.profile, minlength=profiles)
        popularity = np.bincount(blocks, weights=readers[owner], minlength=len(self.blocks.lengths))
        place = np.empty(len(popularity), dtype=np.int64)
        place[np.argsort(-popularity, kind="stable")] = np.arange(len(place))
        most, least = np.full(profiles, len(place)), np.full(profiles, -1)
        np.minimum.at(most, owner, place[blocks])
        np.maximum.at(least, owner, place[blocks])
        return np.lexsort((self.profile, least[self.profile], most[self.profile]))

    def earlier(self, gap: int) -> Readers:
        """The same readers of a closed set, who read only what is more than ``gap`` older."""
        return replace(self, gap=gap, own=np.arange(len(self.profile), dtype=np.int64))


@dataclass(frozen=True)
class BucketIndex:
    """A closed set of messages as readers of itself.

    ``members`` [bucket rows, messages] holds the integer coefficient of each message.
    """

    members: scipy.sparse.csr_array
    readers: Readers

    def __len__(self) -> int:
        return len(self.readers.profile)

    @property
    def entries(self) -> int:
        """Number of reads that replace all edges."""
        return int(self.readers.sizes().sum())

    @property
    def neighbours(self) -> Ints:
        """How many other messages share an element with each message."""
        counts = self.readers.reads.counts
        total = np.append(0, np.cumsum(counts.values))
        each: Ints = total[counts.pointers[1:]] - total[counts.pointers[:-1]]
        return each[self.readers.profile] - 1

    @property
    def edges(self) -> int:
        """Number of directed edges (message, neighbour), including (message, itself)."""
        return int(self.neighbours.sum()) + len(self)


def _parts(pointers: Ints, owners: Ints) -> tuple[Ints, Ints]:
    """Row pointers of these owners alone, and where their items are."""
    lengths = np.diff(pointers)[owners]
    return offsets(lengths), ranges(pointers[owners], lengths)


def group_rows(owners: Ints, count: int) -> Ints:
    """Row pointers of items sorted by owner: owner o has the items [p[o], p[o + 1]).

    >>> group_rows(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return offsets(np.bincount(owners, minlength=count))


@dataclass(frozen=True)
class Members:
    """The messages of each profile: ``messages[pointers[p]:pointers[p + 1]]``."""

    pointers: Ints
    messages: Ints

    @classmethod
    def of(cls, profile: Ints, profiles: int) -> Members:
        """Group messages by profile."""
        return cls(group_rows(profile, profiles), np.argsort(profile, kind="stable"))

    def spread(self, profiles: Ints) -> tuple[Ints, Ints]:
        """All messages of these profiles one after the other, and how many each has."""
        lengths = np.diff(self.pointers)[profiles]
        return self.messages[ranges(self.pointers[profiles], lengths)], lengths


def bucket_rows(
    block: Ints, message: Ints, moment: Ints, moments: int
) -> tuple[Ints, scipy.sparse.csr_array]:
    """Split blocks by time: the code block * moments + moment of each bucket row, and its members.

    ``message[k]`` is in ``block[k]``. The matrix [bucket rows, messages] holds ones.

    >>> each = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> rows, matrix = bucket_rows(*each, np.array([0, 1]), 2)
    >>> rows.tolist(), matrix.toarray().tolist()
    ([0, 1, 2, 3], [[1, 0], [0, 1], [1, 0], [0, 1]])
    """
    codes = block * moments + moment[message]
    order = np.argsort(codes, kind="stable")
    rows, starts = np.unique(codes[order], return_index=True)
    matrix = scipy.sparse.csr_array(
        (np.ones(len(order), dtype=np.int64), message[order], np.append(starts, len(order))),
        shape=(len(rows), len(moment)),
    )
    return rows, matrix
