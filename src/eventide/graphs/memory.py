"""A memory of messages that new ones look up without joining it (SPEED.md 9).

Unlike a closed set the memory keeps every subset of its messages, unmerged: a new message may meet
any part of a set. Subsets that one message has at a time need no sum; they point at the message.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse
from torch import Tensor

from eventide.errors import InputError
from eventide.graphs.exact.bucket_index import Blocks, Members, bucket_rows, group_rows
from eventide.graphs.exact.lookup import BatchLookup, MemorySums
from eventide.graphs.exact.products import FixedMatrix
from eventide.graphs.exact.small_batch_lookup import SMALL_BATCH, Holdings, SmallBatchLookup
from eventide.graphs.exact.subsets import (
    SubsetTable,
    affordable,
    element_matrix,
    keep_elements,
    profiles,
    sign,
)
from eventide.graphs.incidence import Incidence, Ints, offsets


class Memory:
    """Messages by element keys and time, to be looked up by new ones.

    >>> import torch
    >>> memory = Memory(Incidence.of([["a"], ["b"], ["a", "b"]]), [0, 0, 0])
    >>> seen = memory.lookup(Incidence.of([["a", "b"], ["c"]]), [0, 0])
    >>> known, own = torch.tensor([[1.0], [4.0], [4.0]]), torch.tensor([[7.0], [9.0]])
    >>> seen.average(known, own, torch.zeros(2)).flatten().tolist()
    [4.0, 9.0]
    """

    def __init__(
        self,
        incidence: Incidence,
        times: Ints | list[int],
        most: int | None = None,
        gap: int | None = None,
    ) -> None:
        """``most``: see ``closed_bucket_index``; ``gap``: see ``Readers``."""
        self.incidence = incidence
        self.gap = gap
        self.times = np.asarray(times, dtype=np.int64)
        if len(self.times) != len(incidence):
            raise InputError(f"{len(incidence)} messages but {len(self.times)} times")
        self._profile, self._sets = profiles(incidence)
        self._messages = Members.of(self._profile, len(self._sets))
        self.most = affordable(self._sets.degrees) if most is None else most
        narrow = self._sets.degrees <= self.most
        self._wide = np.flatnonzero(~narrow)
        self._table, groups = SubsetTable.build(keep_elements(self._sets, narrow, by_row=True))
        found = [group.pairs() for group in groups]
        none = np.zeros(0, dtype=np.int64)
        rows, keys, masks = (
            np.concatenate([pairs[part] for pairs in found] or [none]) for part in range(3)
        )
        signs = np.zeros(len(self._table.support), dtype=np.int64)
        signs[keys] = sign(masks)
        self._moments, self._moment = np.unique(self.times, return_inverse=True)
        self._holdings, self._members = self._hold(rows, keys, signs)

    def __len__(self) -> int:
        return len(self.times)

    def _hold(self, rows: Ints, keys: Ints, signs: Ints) -> tuple[Holdings, FixedMatrix]:
        """What each key holds, and the members of the bucket rows."""
        spread, lengths = self._messages.spread(rows)
        moments = max(len(self._moments), 1)
        codes, members = bucket_rows(np.repeat(keys, lengths), spread, self._moment, moments)
        key, moment = np.divmod(codes, moments)
        members.data = np.repeat(signs[key], np.diff(members.indptr))
        size = np.diff(members.indptr)
        several = size > 1
        alone = members[~several]
        shape = (len(signs), len(self))
        holdings = Holdings(
            Blocks(
                group_rows(key[several], len(signs)),
                np.arange(int(several.sum())),
                self._moments[moment[several]],
            ),
            scipy.sparse.csr_array((alone.data, (key[~several], alone.indices)), shape=shape),
            scipy.sparse.csr_array((signs[key] * size, (key, moment)), shape=(len(signs), moments)),
            self._moments,
            self._moment,
        )
        return holdings, FixedMatrix(members[several])

    def sums(self, values: Tensor) -> MemorySums:
        """Sum ``values`` [memory, width] into buckets once, for any number of look-ups."""
        return MemorySums(self._members.times(values), values)

    def lookup(self, new: Incidence, times: Ints | list[int]) -> BatchLookup | SmallBatchLookup:
        """Find the memory's neighbours of new messages; each one's answer stands alone."""
        known = self.incidence.index.find(new.keys)[new.elements]
        rows = new.rows[known >= 0]
        order = np.lexsort((known[known >= 0], rows))
        lengths = np.bincount(rows, minlength=len(new))
        sets = Incidence(offsets(lengths), known[known >= 0][order], self.incidence.keys)
        narrow = sets.degrees <= self.most
        found = [g.pairs() for g in self._table.find(keep_elements(sets, narrow, by_row=True))]
        none = np.zeros(0, dtype=np.int64)
        reader, key = (
            np.concatenate([pairs[part] for pairs in found] or [none]) for part in range(2)
        )
        order = np.argsort(reader, kind="stable")
        pointers, key = group_rows(reader, len(new)), key[order]
        explicit = self._explicit(sets, narrow)
        at = np.asarray(times, dtype=np.int64)
        if len(new) <= SMALL_BATCH:
            met = (
                [none] * len(new)
                if explicit is None
                else np.split(explicit.indices, explicit.indptr[1:-1])
            )
            return SmallBatchLookup(
                self._holdings, np.split(key, pointers[1:-1]), met, at, self, self.gap
            )
        pairs = scipy.sparse.csr_array(
            (np.ones(len(key), dtype=np.int64), key, pointers),
            shape=(len(new), len(self._table.support)),
        )
        singles, counts = pairs @ self._holdings.singles, pairs @ self._holdings.counts
        if explicit is not None:
            singles, counts = singles + explicit, counts + explicit @ self._by_moment
        return BatchLookup(
            at,
            (pointers, key),
            self._holdings.blocks,
            singles,
            self.times,
            (counts, self._moments),
            self,
            self.gap,
        )

    def _explicit(self, sets: Incidence, narrow: np.ndarray) -> scipy.sparse.csr_array | None:
        """Wide new messages meet all they share with; narrow ones the wide of the memory."""
        places = []
        for wide in (False, True):
            readers = np.flatnonzero(~narrow if wide else narrow)
            targets = np.arange(len(self._sets)) if wide else self._wide
            if len(readers) and len(targets):
                matrix = self._matrix if wide else self._wide_matrix
                met = (element_matrix(sets.take(readers)) @ matrix).tocoo()
                messages, lengths = self._messages.spread(targets[met.col])
                places.append((np.repeat(readers[met.row], lengths), messages))
        if not any(len(messages) for _, messages in places):
            return None
        row, column = (np.concatenate(part) for part in zip(*places, strict=True))
        ones = np.ones(len(row), dtype=np.int64)
        return scipy.sparse.csr_array((ones, (row, column)), (len(sets), len(self)))

    @cached_property
    def _matrix(self) -> scipy.sparse.csr_array:
        """Elements by profiles; kept, because a look-up of one message takes less than its making.

        Made when a wide message first asks for it.
        """
        return element_matrix(self._sets).T.tocsr()

    @cached_property
    def _wide_matrix(self) -> scipy.sparse.csr_array:
        """Elements by wide profiles."""
        return element_matrix(self._sets.take(self._wide)).T.tocsr()

    @cached_property
    def _by_moment(self) -> scipy.sparse.csr_array:
        ones = np.ones(len(self), dtype=np.int64)
        return scipy.sparse.csr_array(
            (ones, self._moment, np.arange(len(self) + 1)),
            shape=(len(self), max(len(self._moments), 1)),
        )
