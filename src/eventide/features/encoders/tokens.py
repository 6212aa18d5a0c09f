"""Words and character n-grams as 64-bit keys, and lexicons of the keys an encoder knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unicodedata import category

import numpy as np
import numpy.typing as npt

from eventide.arrays import GOLDEN, splitmix64
from eventide.runtime.threads import FEW

if TYPE_CHECKING:
    import polars as pl
from collections.abc import Iterable

Keys: TypeAlias = npt.NDArray[np.uint64]
Rows: TypeAlias = npt.NDArray[np.int64]

_URL = r"(?:https?://|www\.)\S+"
_ASCII_URL = re.compile(_URL.replace(r"\S", r"[^\t-\r ]"))
_SPACE = 32
_INVERSE = np.uint64(pow(int(GOLDEN), -1, 2**64))
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_WORD = 1


class Tokens(NamedTuple):
    """Tokens of a batch in reading order: the text each stands in and its key."""

    rows: Rows
    keys: Keys


class Scan:
    """A batch of texts, cut into words: runs of letters, digits, marks and underscores.

    >>> scan = Scan(["Flood in Chiang Mai!", "FLOOD http://a.b/c"])
    >>> scan.words().rows.tolist()
    [0, 0, 0, 0, 1]
    >>> bool(scan.words().keys[0] == scan.words().keys[4])
    True
    """

    def __init__(self, texts: list[str] | pl.Series) -> None:
        self.texts = len(texts)
        codes, rows = _code_points(normalised(texts))
        inside = _is_word(codes)
        # every run of other characters becomes one space, and the array begins and ends with one
        keep = inside | np.concatenate(([True], inside[:-1]))
        spaced = np.where(inside, codes, _SPACE)[keep]
        self._codes = np.concatenate(([_SPACE], spaced, [_SPACE])).astype(np.uint64)
        self._rows = np.concatenate(([0], rows[keep], rows[-1:])).astype(np.int64)
        powers = np.multiply.accumulate(np.full(len(self._codes), GOLDEN))
        self._sums = np.concatenate(
            (np.zeros(1, np.uint64), np.cumsum(splitmix64(self._codes) * powers, dtype=np.uint64))
        )
        self._scale = np.multiply.accumulate(np.full(len(self._codes), _INVERSE))
        self._spaces = np.concatenate(([0], np.cumsum(self._codes == _SPACE)))

    def words(self) -> Tokens:
        """Every word in reading order."""
        space = self._codes == _SPACE
        starts = np.flatnonzero(~space[1:] & space[:-1]) + 1
        ends = np.flatnonzero(space[1:] & ~space[:-1]) + 1
        return Tokens(self._rows[starts], self._keys(starts, ends, _WORD))

    def words_and_pairs(self) -> Tokens:
        """Every word, then every two words that follow each other in a text.

        >>> Scan(["big flood", "flood"]).words_and_pairs().rows.tolist()
        [0, 0, 1, 0]
        """
        rows, keys = self.words()
        beside = rows[1:] == rows[:-1]
        pairs = (keys[:-1] * GOLDEN + keys[1:] * _SECOND)[beside]
        return Tokens(np.concatenate([rows, rows[:-1][beside]]), np.concatenate([keys, pairs]))

    def ngrams(self, length: int) -> Tokens:
        """Every ``length`` (3 or more) characters of a word with a space before and after it."""
        starts = np.arange(max(len(self._codes) - length + 1, 0))
        within = self._spaces[starts + length - 1] == self._spaces[starts + 1]
        starts = starts[within]
        return Tokens(self._rows[starts + 1], self._keys(starts, starts + length, length))

    def _keys(self, starts: Rows, ends: Rows, kind: int) -> Keys:
        stretch = (self._sums[ends] - self._sums[starts]) * self._scale[starts]
        return splitmix64(stretch + np.uint64(kind * int(GOLDEN) % 2**64))


def spelling_keys(spellings: list[str]) -> Keys:
    """Return the keys that ``Scan.words`` gives these words; what is not one word has no match.

    >>> bool(spelling_keys(["Flood"])[0] == Scan(["a flood"]).words().keys[1])
    True
    """
    rows, keys = Scan(spellings).words()
    found = np.zeros(len(spellings), dtype=np.uint64)
    single = np.bincount(rows, minlength=len(spellings)) == 1
    found[rows] = keys
    found[~single] = 0
    return found


def normalised(texts: list[str] | pl.Series) -> pl.Series:
    """Unify compatibility forms and case, and blank out addresses."""
    import polars as pl

    if len(texts) <= FEW and all(text.isascii() for text in texts):
        # ASCII has no compatibility forms, and Python sets up less for a few texts.
        return pl.Series([_ASCII_URL.sub(" ", text).lower() for text in texts], dtype=pl.String)
    series = pl.Series(texts, dtype=pl.String)
    return series.str.replace_all(_URL, " ").str.normalize("NFKC").str.to_lowercase()


def _code_points(texts: pl.Series) -> tuple[npt.NDArray[np.uint32], Rows]:
    """All texts' code points, each text ended by a line break, and the text each belongs to."""
    each = texts.to_list()
    codes = np.frombuffer("\n".join([*each, ""]).encode("utf-32-le"), dtype="<u4")
    return codes, np.repeat(np.arange(len(each)), [len(text) + 1 for text in each])


def _is_word(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Which code points belong to words; asked once per distinct one."""
    if not len(codes):
        return np.zeros(0, dtype=np.bool_)
    present = np.flatnonzero(np.bincount(codes))
    table = np.zeros(int(present[-1]) + 1, dtype=np.bool_)
    table[present] = [_belongs(chr(code)) for code in present]
    return table[codes]


def _belongs(character: str) -> bool:
    # marks carry vowels in many scripts; variation selectors are marks too, but only style emoji
    kind = category(character)
    if kind == "Mn" and re.match("[\ufe00-\ufe0f]", character):
        return False
    return kind[0] in "LN" or kind in ("Mn", "Mc") or character == "_"


class Lexicon:
    """Sorted distinct keys; the index of a key is its column.

    >>> Lexicon(np.array([3, 7, 9], dtype=np.uint64)).columns(np.array([9, 4], dtype=np.uint64))
    array([ 2, -1])
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def columns(self, keys: Keys) -> Rows:
        """Return the column of every key, -1 where it is unknown."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        index = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[index] == keys, index, -1)


def frequent(counts: tuple[Keys, Rows], *, least: int, most: int) -> tuple[Keys, Rows]:
    """Keep the ``most`` commonest keys with a count of ``least`` or more; ties go by key."""
    keys, numbers = counts
    chosen = np.flatnonzero(numbers >= least)
    if len(chosen) > most:
        chosen = np.sort(chosen[np.argsort(-numbers[chosen], kind="stable")[:most]])
    return keys[chosen], numbers[chosen]


def tally(batches: Iterable[Keys]) -> tuple[Keys, Rows]:
    """Count keys over batches: the distinct keys, sorted, and how often each came."""
    keys: Keys = np.zeros(0, dtype=np.uint64)
    numbers: Rows = np.zeros(0, dtype=np.int64)
    for batch in batches:
        new, times = np.unique(batch, return_counts=True)
        keys, index = np.unique(np.concatenate((keys, new)), return_inverse=True)
        numbers = _added(np.concatenate((numbers, times)), index, len(keys))
    return keys, numbers


def _added(values: Rows, index: npt.NDArray[np.intp], size: int) -> Rows:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, index, values)
    return total
