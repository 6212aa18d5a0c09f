"""Averages over values computed earlier, while those of a few messages have changed since.

The sums of all buckets are made once. A batch then reads its own buckets, put right by how far its
messages have moved from what was summed: linear in what the batch reads, however many others exist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from eventide.graphs.averages import average_sums
from eventide.graphs.incidence import Ints
from eventide.graphs.layout import Layout
from eventide.graphs.plan import Plans
from eventide.graphs.products import FixedMatrix


class StaleAverages:
    """Old values of all messages and their bucket sums.

    ``turned`` [messages, bucket rows] is the transposed matrix of the layout's members.
    """

    def __init__(
        self, layout: Layout, sums: Tensor, values: Tensor, turned: scipy.sparse.csr_array
    ) -> None:
        self._layout, self._sums, self._values, self._turned = layout, sums, values, turned

    def average(self, own: Tensor, rates: Tensor, rows: Tensor) -> Tensor:
        """Average around ``rows``, whose values now are ``own``; everybody else's are old.

        Each row once. Gradients to ``own`` and ``rates``.
        """
        wanted = rows.cpu().numpy()
        readers, buckets = self._layout.readers.only(wanted)
        direct = readers.reads.direct
        messages, place = np.unique(direct.messages, return_inverse=True)
        reads = replace(readers.reads, direct=replace(direct, messages=place))
        readers = replace(readers, reads=reads, messages=len(messages))
        moved = own - self._values[rows]
        theirs = self._turned[wanted].T
        mine = scipy.sparse.csr_array(
            (np.ones(len(wanted), dtype=np.int64), (wanted, np.arange(len(wanted)))),
            shape=(len(self._layout), len(wanted)),
        )
        return average_sums(
            _put_right(self._sums, buckets, theirs.tocsr(), moved),
            _put_right(self._values, messages, mine, moved),
            rates,
            Plans(readers, rates.device),
        )


def _put_right(old: Tensor, some: Ints, matrix: scipy.sparse.csr_array, moved: Tensor) -> Tensor:
    """Rows ``some`` of ``old + matrix @ moved``."""
    return old[torch.from_numpy(some).to(old.device)] + FixedMatrix(matrix[some]).times(moved)
