"""Builds the bucket index of a set of messages: inclusion-exclusion over shared subsets.

Wide element sets and rare elements do not become keys: their edges are listed, which is cheaper.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from eventide.graphs.exact.bucket_index import (
    Blocks,
    BucketIndex,
    Direct,
    Members,
    Readers,
    Reads,
    TimeCounts,
    bucket_rows,
    group_rows,
)
from eventide.graphs.exact.subsets import (
    Flags,
    Group,
    SubsetTable,
    affordable,
    element_matrix,
    keep_elements,
    linking,
    profiles,
    sign,
)
from eventide.graphs.incidence import Incidence, Ints


def near_wide(sets: Incidence, wide: Ints) -> tuple[Ints, Ints]:
    """(w, p) where the w-th of the ``wide`` sets and set p share an element, p = w included.

    >>> near_wide(Incidence.of([["a", "b"], ["b"], ["c"]]), np.array([0]))
    (array([0, 0]), array([0, 1]))
    """
    if len(wide) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    shared = element_matrix(sets.take(wide)) @ element_matrix(sets).T
    shared.sort_indices()
    centers = np.repeat(np.arange(len(wide), dtype=np.int64), np.diff(shared.indptr))
    return centers, shared.indices.astype(np.int64)


RARE = 12  # an element of at most so many messages is read message by message


def rare_pairs(sets: Incidence, often: Flags, wide: Ints) -> tuple[Ints, Ints]:
    """(p, q), p != q, that share a rare element and no element where ``often``; none ``wide``.

    >>> sets = Incidence.of([["hot", "a"], ["a"], ["hot", "a", "b"], ["b"]])
    >>> often = np.array([True, False, False])
    >>> rare_pairs(sets, often, np.zeros(0, dtype=np.int64))
    (array([0, 1, 1, 2, 2, 3]), array([1, 0, 2, 1, 3, 2]))
    """
    narrow = np.ones(len(sets), dtype=bool)
    narrow[wide] = False
    rare = element_matrix(keep_elements(keep_elements(sets, ~often), narrow, by_row=True))
    shared = (rare @ rare.T).tocoo()
    left, right = shared.row.astype(np.int64), shared.col.astype(np.int64)
    other = left != right
    left, right = left[other], right[other]
    popular = element_matrix(keep_elements(sets, often))
    met = np.asarray((popular[left] * popular[right]).sum(axis=1)).ravel() > 0
    left, right = left[~met], right[~met]
    order = np.lexsort((right, left))
    return left[order], right[order]


def shared_keys(sets: Incidence, weights: Ints) -> tuple[Ints, Ints, Ints]:
    """Return (set, key) pairs and the net sign of each key.

    ``weights[s]`` messages have the set s. Subsets that one message has are left out; subsets with
    the same members become one key with the sum of their signs, and are dropped if that is zero.

    >>> sets = Incidence.of([["a", "b"], ["a", "b", "c"], ["c"]])
    >>> row, key, signs = shared_keys(sets, np.array([1, 1, 1]))
    >>> row.tolist(), key.tolist(), signs.tolist()
    ([2, 0, 1, 1], [0, 1, 1, 0], [1, 1])
    """
    table, groups = SubsetTable.build(sets, weights, least=2)
    closure = np.zeros(len(table.support), dtype=np.int64)
    signs = np.zeros(len(table.support), dtype=np.int64)
    for group in groups:
        _, subset, mask = group.pairs()
        closure[subset] = _closures(group, table.support)[group.subsets >= 0]
        signs[subset] = sign(mask)
    net = np.zeros(len(closure), dtype=np.int64)
    np.add.at(net, closure, signs)
    number = np.cumsum(net != 0) - 1
    found = [group.pairs() for group in groups]
    row = np.concatenate([pairs[0] for pairs in found] or [np.zeros(0, dtype=np.int64)])
    key = np.concatenate([pairs[1] for pairs in found] or [np.zeros(0, dtype=np.int64)])
    kept = net[key] != 0
    return row[kept], number[key[kept]], net[net != 0]


def _closures(group: Group, support: Ints) -> Ints:
    """For each subset of the group, the largest one with the same members.

    Adding an element keeps the members exactly if it keeps their number; so do all such elements
    together. The answer does not depend on the set in which the subset is found.
    """
    masks = np.arange(1 << group.size, dtype=np.int64)
    held = np.where(group.subsets >= 0, np.append(support, 0)[group.subsets], 0)
    largest = np.broadcast_to(masks, held.shape).copy()
    for bit in range(group.size):
        larger = masks | (1 << bit)
        largest |= np.where(held[:, larger] == held, 1 << bit, 0)
    return np.take_along_axis(group.subsets, largest, axis=1)


def closed_bucket_index(
    incidence: Incidence, times: Ints, most: int | None = None, rare: int = RARE
) -> BucketIndex:
    """Build the bucket index of messages that read each other.

    Elements of at most ``rare`` messages are read directly. Messages with more than ``most`` other
    elements (None: as many as ``subsets.affordable`` gives) are wide: their neighbours are listed.

    >>> sets = Incidence.of([["a"], ["a", "b"], ["b"], []])
    >>> bucket_index = closed_bucket_index(sets, np.array([0, 0, 1, 1]))
    >>> bucket_index.edges, bucket_index.entries
    (8, 8)
    """
    linked = linking(incidence)
    often = np.bincount(linked.elements, minlength=len(linked.keys)) > rare
    profile, sets = _lone_apart(*profiles(linked))
    popular = keep_elements(sets, often)
    most = affordable(popular.degrees) if most is None else most
    wide = np.flatnonzero(popular.degrees > most)
    narrow = keep_elements(popular, popular.degrees <= most, by_row=True)
    weights = np.bincount(profile, minlength=len(sets)).astype(np.int64)
    reader, block, signs = shared_keys(narrow, weights)
    own = 1 - np.bincount(reader, weights=signs[block], minlength=len(sets)).astype(np.int64)
    own[wide] = 0

    # blocks: subset keys, then each wide profile as a neighbour, then all neighbours of it
    keys, count = len(signs), len(wide)
    center, near = near_wide(sets, wide)
    other = ~np.isin(near, wide)
    signs = np.concatenate([signs, np.ones(2 * count, dtype=np.int64)])
    each = np.arange(count)
    reads = (
        np.concatenate([reader, near[other], wide]),
        np.concatenate([block, keys + center[other], keys + count + each]),
    )
    messages = Members.of(profile, len(sets))
    spread, lengths = messages.spread(np.concatenate([reader, wide, near]))
    held_by = np.concatenate([block, keys + each, keys + count + center])
    moments, moment = np.unique(times, return_inverse=True)
    rows, members = bucket_rows(np.repeat(held_by, lengths), spread, moment, len(moments))
    row_block, row_moment = np.divmod(rows, max(len(moments), 1))
    members.data = np.repeat(signs[row_block], np.diff(members.indptr))

    def by_moment(values: Ints, owners: Ints, columns: Ints, count: int) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array((values, (owners, columns)), shape=(count, len(moments)))

    directly = _direct(*rare_pairs(sets, often, wide), own, len(sets))
    order = np.lexsort((reads[1], reads[0]))
    pointers = group_rows(reads[0], len(sets))
    pairs = scipy.sparse.csr_array(
        (np.ones(len(order), dtype=np.int64), reads[1][order], pointers),
        shape=(len(sets), len(signs)),
    )
    counts = pairs @ by_moment(members.sum(axis=1), row_block, row_moment, len(signs))
    ones = np.ones(len(profile), dtype=np.int64)
    counts = counts + directly @ by_moment(ones, profile, moment, len(sets))
    readers = Readers(
        profile,
        times,
        Reads(
            pointers,
            reads[1][order],
            _spread_direct(directly, messages, times),
            TimeCounts.of(counts, moments),
        ),
        Blocks(group_rows(row_block, len(signs)), np.arange(len(rows)), moments[row_moment]),
        len(rows),
        len(profile),
    )
    return BucketIndex(members, readers)


def _lone_apart(profile: Ints, sets: Incidence) -> tuple[Ints, Incidence]:
    """Give every message without linking elements its own profile: it reads only itself."""
    lone = np.flatnonzero(sets.degrees[profile] == 0)
    if len(lone) < 2:
        return profile, sets
    apart = profile.copy()
    apart[lone[1:]] = len(sets) + np.arange(len(lone) - 1)
    pointers = np.concatenate([sets.pointers, np.full(len(lone) - 1, sets.pointers[-1])])
    return apart, Incidence(pointers, sets.elements, sets.keys)


def _direct(left: Ints, right: Ints, own: Ints, count: int) -> scipy.sparse.csr_array:
    """Coefficients [profile, profile] of direct reads: rare neighbours, and corrections to itself.

    A profile with a correction has one message, or only rare elements and the coefficient 1.
    """
    lacking = np.flatnonzero(own)
    values = np.concatenate([np.ones(len(left), dtype=np.int64), own[lacking]])
    indices = np.concatenate([left, lacking]), np.concatenate([right, lacking])
    matrix = scipy.sparse.csr_array((values, indices), shape=(count, count))
    matrix.sort_indices()
    return matrix


def _spread_direct(matrix: scipy.sparse.csr_array, members: Members, times: Ints) -> Direct:
    """Replace the profiles that are read by their messages."""
    messages, lengths = members.spread(matrix.indices.astype(np.int64))
    reader = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return Direct(
        group_rows(np.repeat(reader, lengths), matrix.shape[0]),
        messages,
        times[messages],
        np.repeat(matrix.data.astype(np.int64), lengths),
    )
