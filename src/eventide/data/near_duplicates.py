"""Near-duplicate texts: retweets and copies grouped by MinHash, checked by exact Jaccard.

Texts are sets of 5-character shingles. MinHash signatures propose candidates; the exact Jaccard
similarity decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from eventide.arrays import GOLDEN
from eventide.errors import BadSetting
from eventide.progress import track

SHINGLE = 5
HASHES = 70
# Shingles hashed at once: small enough for the processor's cache.
_AT_ONCE = 1 << 18

Ints = NDArray[np.int64]


def signatures(texts: pl.Series, seed: int) -> NDArray[np.uint32]:
    """Compute ``HASHES`` minima per text; two texts agree on each with probability = Jaccard.

    Shapes: N texts -> [N, HASHES].
    """
    random = np.random.default_rng(seed)
    flips = random.integers(0, 1 << 32, HASHES, dtype=np.uint32)
    factors = random.integers(0, 1 << 32, HASHES, dtype=np.uint32) | np.uint32(1)
    result = np.empty((len(texts), HASHES), dtype=np.uint32)
    lengths = texts.str.len_chars().to_numpy().astype(np.int64)
    # Whole texts in each piece, about _AT_ONCE characters long.
    piece = (np.cumsum(lengths) - lengths) // _AT_ONCE
    edges = np.flatnonzero(np.diff(piece, prepend=-1, append=piece[-1:] + 1))
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        hashes, starts = shingles(texts[start:stop])
        small = (hashes >> np.uint64(32)).astype(np.uint32)
        for column in range(HASHES):
            permuted = (small ^ flips[column]) * factors[column]
            result[start:stop, column] = np.minimum.reduceat(permuted, starts[:-1])
    return result


def shingles(texts: pl.Series) -> tuple[NDArray[np.uint64], Ints]:
    """Hash every run of 5 characters; text i owns ``hashes[starts[i]:starts[i + 1]]``.

    A text of fewer than 5 characters is padded with spaces to one shingle.
    """
    padded = texts.str.pad_end(SHINGLE)
    lengths = padded.str.len_chars().to_numpy().astype(np.int64)
    joined = "".join(padded.to_list()).encode("utf-32-le")
    characters = np.frombuffer(joined, dtype=np.uint32).astype(np.uint64)
    count = max(0, len(characters) - SHINGLE + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(SHINGLE):
        hashes = (hashes ^ characters[offset : offset + count]) * GOLDEN
        hashes ^= hashes >> np.uint64(29)
    # A run that starts in the last SHINGLE - 1 characters would cross into the next text.
    ends = np.cumsum(lengths)
    crossing = (ends[:-1, None] - np.arange(1, SHINGLE)).ravel()
    inside = np.ones(count, dtype=bool)
    inside[crossing] = False
    starts = np.concatenate([[0], np.cumsum(lengths - SHINGLE + 1)])
    return hashes[inside], starts


class ShingleSets:
    """Texts as sets of shingles, made once and compared in pairs."""

    def __init__(self, texts: pl.Series) -> None:
        parts = [_distinct(texts[part]) for part in slices(len(texts), 1 << _ROW_BITS)]
        none = np.zeros(0, dtype=np.int64)
        columns = np.concatenate([none, *(part for part, _ in parts)])
        self._sizes = np.concatenate([none, *(sizes for _, sizes in parts)])
        pointers = np.concatenate([[0], np.cumsum(self._sizes)])
        shape = len(texts), 1 << _HASH_BITS  # a sparse matrix stores only its entries
        self._sets = csr_array((np.ones(len(columns), np.int8), columns, pointers), shape=shape)
        self._sets.has_canonical_format = True

    def jaccard(self, first: Ints, second: Ints) -> NDArray[np.float64]:
        """Compare pairs of texts, given by position: shared shingles over all."""
        if not len(first):
            return np.zeros(0)
        shared = self._sets[first].multiply(self._sets[second]).sum(axis=1, dtype=np.int64)
        total = self._sizes[first] + self._sizes[second] - shared
        return np.asarray(shared / total, dtype=np.float64)


_ROW_BITS, _HASH_BITS = 12, 52
"""Bits of a key that name a text among 4,096, and those that are left for a shingle's hash."""


def _distinct(texts: pl.Series) -> tuple[Ints, Ints]:
    """Return the shingles of a few thousand texts, sorted and each once, and each text's number."""
    hashes, starts = shingles(texts)
    rows = np.repeat(np.arange(len(texts), dtype=np.uint64), np.diff(starts))
    # One sort of plain integers is ten times as fast as sorting within the rows of a matrix.
    keys = np.sort((rows << np.uint64(_HASH_BITS)) | (hashes >> np.uint64(64 - _HASH_BITS)))
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    sizes = np.bincount((keys >> np.uint64(_HASH_BITS)).astype(np.int64), minlength=len(texts))
    return (keys & np.uint64((1 << _HASH_BITS) - 1)).astype(np.int64), sizes


def slices(length: int, size: int) -> Iterator[slice]:
    """Cut ``range(length)`` into slices of ``size``.

    >>> [(part.start, part.stop) for part in slices(5, 2)]
    [(0, 2), (2, 4), (4, 6)]
    """
    return (slice(start, start + size) for start in range(0, length, size))


# A member of a bucket is compared with this many followers in signature order: every pair of a
# bucket up to 25, and linear work in a bucket of any size. Other bands use other orders.
WINDOW = 24
# A signature may underestimate a pair; 0.2 is more than four deviations at 70 hashes.
SLACK = 0.2
_PAIRS_AT_ONCE = 1 << 15
MANY = 50_000
"""Texts from which on it takes so long that the progress is shown."""


def near_duplicate_groups(texts: Iterable[str], threshold: float = 0.8, seed: int = 0) -> Ints:
    """Return the group index of each text, from 0 in order of first appearance.

    >>> near_duplicate_groups(
    ...     ["Fire in the old mill!", "RT @ann: fire in the old mill! http://t.co/x", "Rain"]
    ... ).tolist()
    [0, 0, 1]
    """
    if not 0 < threshold <= 1:
        raise BadSetting(f"the threshold must lie in (0, 1], got {threshold}")
    normal = normalised(texts)
    if normal.is_empty():
        return np.zeros(0, dtype=np.int64)
    # Repeated texts are compared once.
    distinct = normal.unique(maintain_order=True).to_frame().with_row_index("index")
    which = normal.to_frame().join(distinct, on="text", how="left", maintain_order="left")["index"]
    groups = _groups_of_distinct(distinct["text"], threshold, seed)
    # Distinct texts are in order of first appearance, so a group's first member orders it.
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse][which.to_numpy()], dtype=np.int64)


def normalised(texts: Iterable[str]) -> pl.Series:
    """Strip what a retweet adds: case, ``RT @user:``, urls, quotation marks, dots, spaces.

    A text that consists only of these is kept, in lower case.

    >>> normalised(["RT @a: RT @b: Hello   World… http://t.co/1", "http://t.co/2"]).to_list()
    ['hello world', 'http://t.co/2']
    """
    raw = pl.Series("text", texts, dtype=pl.String).to_frame()
    lowered = pl.col("text").str.to_lowercase()
    bare = (
        lowered.str.replace_all(r"https?://\S*", " ")
        .str.replace(r"^(?:[\s\"“”]*rt\s+@\w+\s*:?\s*)+", "")
        .str.replace_all(r"\s+", " ")
        .str.strip_chars(' "“”….')
    )
    return raw.select(pl.when(bare == "").then(lowered).otherwise(bare).alias("text"))["text"]


def banding(threshold: float) -> tuple[int, int]:
    """Choose bands and rows per band so that a pair at the threshold is found 99.5 times in 100.

    A pair of Jaccard J agrees on one of b bands of r rows with probability 1 - (1 - J**r)**b;
    more rows mean fewer pairs to check.

    >>> banding(0.8)
    (14, 5)
    """
    fitting = [
        (HASHES // rows, rows)
        for rows in range(1, 11)
        if 1 - (1 - threshold**rows) ** (HASHES // rows) >= 0.995
    ]
    return fitting[-1] if fitting else (HASHES, 1)


def _groups_of_distinct(texts: pl.Series, threshold: float, seed: int) -> Ints:
    marks = signatures(texts, seed)
    groups = np.arange(len(texts), dtype=np.int64)
    bands, rows = banding(threshold)
    buckets = [_buckets(marks, band * rows, rows) for band in range(bands)]
    # Most texts of most files share a bucket with no other: their shingles are never needed.
    met = np.zeros(len(texts), dtype=bool)
    for order, _ in buckets:
        met[order] = True
    sets, place = ShingleSets(texts.filter(pl.Series(met))), np.cumsum(met) - 1
    said = f"comparing {len(texts):,} texts"
    for band in track(buckets, said, total=bands) if len(texts) > MANY else buckets:
        for first, second in _candidates(*band):
            # Pairs in one group already need no comparison.
            apart = np.flatnonzero(groups[first] != groups[second])
            for part in slices(len(apart), _PAIRS_AT_ONCE):
                one, other = first[apart[part]], second[apart[part]]
                alike = (marks[one] == marks[other]).mean(axis=1) >= threshold - SLACK
                one, other = one[alike], other[alike]
                same = sets.jaccard(place[one], place[other]) >= threshold
                groups = _joined(groups, one[same], other[same])
    return groups


def _buckets(marks: NDArray[np.uint32], start: int, rows: int) -> tuple[Ints, Ints]:
    """Return the texts that agree with another on ``rows`` hashes, and the bucket of each.

    They are sorted by these hashes and then by the next, so that neighbours are similar.
    """
    columns = np.arange(start, start + rows + 3) % HASHES
    order = np.lexsort([marks[:, column] for column in columns[::-1]])
    keys = marks[order][:, columns[:rows]]
    opens = np.concatenate([[True], np.any(keys[1:] != keys[:-1], axis=1)])
    bucket = np.cumsum(opens) - 1
    several = np.bincount(bucket)[bucket] > 1
    return order[several], bucket[several]


def _candidates(order: Ints, bucket: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Pair the texts of each bucket, nearest pairs first."""
    for step in range(1, min(WINDOW, len(order) - 1) + 1):
        at = np.flatnonzero(bucket[step:] == bucket[:-step])
        if not len(at):
            break
        yield order[at], order[at + step]


def _joined(groups: Ints, first: Ints, second: Ints) -> Ints:
    """Merge the groups of ``first[i]`` and ``second[i]`` for every i."""
    if not len(first):
        return groups
    count = len(groups)
    links = coo_array((np.ones(len(first)), (groups[first], groups[second])), shape=(count, count))
    return np.asarray(connected_components(links, directed=False)[1][groups], dtype=np.int64)
