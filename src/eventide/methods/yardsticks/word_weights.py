"""Sparse TF-IDF of words and pairs of neighbouring words, learned from training text alone."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from eventide.errors import InputError
from eventide.features.encoders.lexicon import Lexicon, frequent
from eventide.features.encoders.pooling import count_matrix
from eventide.features.encoders.tokens import Keys, Scan, Tokens

MOST = 100_000
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class WordWeights(NamedTuple):
    """The known words and pairs as keys, and how rare each is."""

    lexicon: Lexicon
    rarity: NDArray[np.float32]

    @classmethod
    def fit(cls, texts: pl.Series) -> Self:
        """Learn words and pairs that two texts share (the commonest 100,000) and their rarity.

        Rarity is log((1 + texts) / (1 + texts with it)) + 1.
        """
        rows, keys = words_and_pairs(texts)
        found, places = np.unique(keys, return_inverse=True)
        once = np.unique(rows * len(found) + places) % max(len(found), 1)
        documents = np.bincount(once, minlength=len(found))
        known, documents = frequent((found, documents), least=2, most=MOST)
        if not len(known):
            raise InputError(
                "no word occurs in two training messages, so there is nothing to weigh",
                where=f"{len(texts)} training messages",
                next_step="give more training messages, or another method",
            )
        rarity = np.log((1 + len(texts)) / (1 + documents)) + 1
        return cls(Lexicon(known), rarity.astype(np.float32))

    def weigh(self, texts: pl.Series) -> sparse.csr_array:
        """Return (1 + log count) * rarity, rows of unit length [texts, known]."""
        rows, keys = words_and_pairs(texts)
        shape = (len(texts), len(self.lexicon))
        counts = count_matrix(rows, self.lexicon.columns(keys), shape)
        values = (1 + np.log(counts.data)) * self.rarity[counts.indices]
        squares = np.zeros(len(texts))
        places = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
        np.add.at(squares, places, values.astype(np.float64) ** 2)
        counts.data = values / np.sqrt(squares)[places]
        return counts


def words_and_pairs(texts: pl.Series) -> Tokens:
    """List every word of the texts and every two words that follow each other.

    >>> words_and_pairs(pl.Series(["big flood", "flood"])).rows.tolist()
    [0, 0, 1, 0]
    """
    rows, keys = Scan(texts).words()
    beside = rows[1:] == rows[:-1]
    pairs: Keys = (keys[:-1] * _FIRST + keys[1:] * _SECOND)[beside]
    return Tokens(np.concatenate([rows, rows[:-1][beside]]), np.concatenate([keys, pairs]))
