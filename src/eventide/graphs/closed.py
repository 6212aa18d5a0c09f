"""Build the layout of a closed set of messages: inclusion-exclusion over shared subsets.

Inside a closed set the keys shrink a lot and stay exact: elements that link nobody new go
(``profiles.linking``), rare elements become direct reads (``rare``), subsets that one message has
go (its own coefficient makes up for them), subsets with the same members merge by adding their
signs (``shared_keys``). Messages with too many elements get explicit neighbours (``wide``).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.layout import (
    Blocks,
    Direct,
    Layout,
    Members,
    Readers,
    Reads,
    TimeCounts,
    bucket_rows,
    group_rows,
)
from eventide.graphs.profiles import keep_elements, linking, profiles
from eventide.graphs.rare import RARE, rare_pairs
from eventide.graphs.shared_keys import shared_keys
from eventide.graphs.subsets import affordable
from eventide.graphs.wide import near_wide


def closed_layout(
    incidence: Incidence, times: Ints, most: int | None = None, rare: int = RARE
) -> Layout:
    """Lay out the neighbourhoods of all messages among themselves.

    Elements of at most ``rare`` messages are read directly. Messages with more than ``most`` other
    elements (None: as many as ``subsets.affordable`` says) are wide: explicit neighbours.

    >>> sets = Incidence.of([["a"], ["a", "b"], ["b"], []])
    >>> layout = closed_layout(sets, np.array([0, 0, 1, 1]))
    >>> layout.edges, layout.entries
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

    # blocks: subset keys, then each wide profile as a neighbour, then all that is around it
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

    def by_moment(numbers: Ints, owners: Ints, columns: Ints, count: int) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array((numbers, (owners, columns)), shape=(count, len(moments)))

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
    return Layout(members, readers)


def _lone_apart(profile: Ints, sets: Incidence) -> tuple[Ints, Incidence]:
    """Give every message without linking elements a profile of its own: it sees only itself."""
    lone = np.flatnonzero(sets.degrees[profile] == 0)
    if len(lone) < 2:
        return profile, sets
    apart = profile.copy()
    apart[lone[1:]] = len(sets) + np.arange(len(lone) - 1)
    pointers = np.concatenate([sets.pointers, np.full(len(lone) - 1, sets.pointers[-1])])
    return apart, Incidence(pointers, sets.elements, sets.keys)


def _direct(left: Ints, right: Ints, own: Ints, count: int) -> scipy.sparse.csr_array:
    """Coefficients [profile, profile] of direct reads: rare neighbours, and what oneself lacks.

    A profile with an own coefficient has one message, or only rare elements and the coefficient 1.
    """
    lacking = np.flatnonzero(own)
    numbers = np.concatenate([np.ones(len(left), dtype=np.int64), own[lacking]])
    places = np.concatenate([left, lacking]), np.concatenate([right, lacking])
    matrix = scipy.sparse.csr_array((numbers, places), shape=(count, count))
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
