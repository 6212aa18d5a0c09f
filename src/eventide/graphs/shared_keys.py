"""The keys of a closed set: subsets that two messages share, merged where their members agree."""

from __future__ import annotations

import numpy as np

from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.subsets import Group, SubsetTable, sign


def shared_keys(sets: Incidence, weights: Ints) -> tuple[Ints, Ints, Ints]:
    """Return (set, key) pairs and the net sign of each key.

    ``weights[s]`` messages have the set s. Subsets of one message are left out; subsets with the
    same members become one key with the sum of their signs, and disappear if that is zero.

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

    Adding an element keeps the members exactly if it keeps their number; all such elements
    together do so too. Whichever set one looks from, the answer is the same.
    """
    masks = np.arange(1 << group.size, dtype=np.int64)
    held = np.where(group.subsets >= 0, np.append(support, 0)[group.subsets], 0)
    largest = np.broadcast_to(masks, held.shape).copy()
    for bit in range(group.size):
        larger = masks | (1 << bit)
        largest |= np.where(held[:, larger] == held, 1 << bit, 0)
    return np.take_along_axis(group.subsets, largest, axis=1)
