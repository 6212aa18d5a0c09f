"""Keys that many messages read together, added up first: one block to read instead of many.

Messages that begin with the same elements (``prefixes``) have in common all keys inside that
beginning. The keys that a beginning has beyond the next shorter one are summed once, for all its
messages; for a message of k popular elements k blocks are left to read instead of up to 2^k - 1
keys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from eventide.graphs.incidence import Ints, ranges
from eventide.graphs.layout import Blocks, group_rows
from eventide.graphs.prefixes import Prefixes

JOIN_KEYS = 2  # at least so many keys ...
JOIN_MESSAGES = 3  # ... that so many messages read together are worth a sum of their own


@dataclass(frozen=True)
class Joined:
    """What the sets read once keys are joined.

    ``reader`` and ``block`` pair up; blocks from ``first`` on are sums of keys: (``sum_of``,
    ``key_of``) says which, counting sums from zero.
    """

    reader: Ints
    block: Ints
    sum_of: Ints
    key_of: Ints
    sums: int


def join_keys(reader: Ints, key: Ints, level: Ints, prefixes: Prefixes, first: int) -> Joined:
    """Join the keys of each beginning; ``level`` is the place of a key's last element in the set.

    >>> prefixes = Prefixes(np.array([[0, 1], [0, 1]]), np.array([4, 4]))
    >>> pairs = [np.array(row) for row in ([0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [0, 1, 1] * 2)]
    >>> joined = join_keys(*pairs, prefixes, first=10)
    >>> joined.reader.tolist(), joined.block.tolist(), joined.key_of.tolist()
    ([0, 1, 0, 1], [0, 0, 10, 10], [1, 2])
    """
    prefix = prefixes.numbers[reader, level] if len(reader) else reader
    count, width = len(prefixes.messages), int(key.max(initial=0)) + 1
    owner, owned = np.divmod(np.unique(prefix * width + key), width)
    several = (np.bincount(owner, minlength=count) >= JOIN_KEYS) & (
        prefixes.messages >= JOIN_MESSAGES
    )
    number = np.cumsum(several) - 1
    together = several[prefix]
    pairs = np.unique(reader[together] * count + prefix[together])
    readers, joined = np.divmod(pairs, max(count, 1))
    kept = several[owner]
    return Joined(
        np.concatenate([reader[~together], readers]),
        np.concatenate([key[~together], first + number[joined]]),
        number[owner[kept]],
        owned[kept],
        int(several.sum()),
    )


def joined_rows(joined: Joined, blocks: Blocks) -> tuple[Blocks, scipy.sparse.csr_array]:
    """The bucket rows of joined blocks, after those of ``blocks``; how they add those up.

    The matrix is [joined rows, rows of ``blocks``].
    """
    lengths = blocks.lengths[joined.key_of]
    place = ranges(blocks.pointers[joined.key_of], lengths)
    moments, moment = np.unique(blocks.times[place], return_inverse=True)
    codes = np.repeat(joined.sum_of, lengths) * max(len(moments), 1) + moment
    rows, row = np.unique(codes, return_inverse=True)
    owner, when = np.divmod(rows, max(len(moments), 1))
    before = len(blocks.rows)
    matrix = scipy.sparse.csr_array(
        (np.ones(len(place), dtype=np.int64), (row, blocks.rows[place])), shape=(len(rows), before)
    )
    return Blocks(
        np.append(blocks.pointers, before + group_rows(owner, joined.sums)[1:]),
        np.append(blocks.rows, before + np.arange(len(rows))),
        np.append(blocks.times, moments[when]),
    ), matrix
