"""TF-IDF: how much a token says about a text, by how often it is there and how rare it is.

It serves the encoder ``tfidf-svd`` (character n-grams) and the baseline ``lr-tfidf`` (words and
pairs). Tokens are 64-bit keys, so a model holds no words. scikit-learn's vectorizers are no better
and take twice as long to encode n-grams (docs/encoders.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from eventide.features.encoders.pooling import count_matrix
from eventide.features.encoders.text_encoder import Vectors
from eventide.features.encoders.tokens import Keys, Lexicon, Tokens, frequent, tally


class Tfidf(NamedTuple):
    """The known tokens and the rarity of each."""

    lexicon: Lexicon
    rarity: Vectors

    @classmethod
    def fit(cls, batches: Iterable[Tokens], *, texts: int, most: int) -> Self:
        """Learn tokens that two of the texts share (the commonest ``most``) and their rarity.

        Rarity is log((1 + texts) / (1 + texts with it)) + 1.
        """
        counts = tally(_once_per_text(tokens) for tokens in batches)
        keys, documents = frequent(counts, least=2, most=most)
        rarity = np.log((1 + texts) / (1 + documents)) + 1
        return cls(Lexicon(keys), rarity.astype(np.float32))

    def weights(self, tokens: Tokens, *, texts: int) -> sparse.csr_array:
        """Return (1 + log count) * rarity [texts, tokens known], rows of unit length."""
        shape = (texts, len(self.lexicon))
        counts = count_matrix(tokens.rows, self.lexicon.columns(tokens.keys), shape)
        counts.data = (1 + np.log(counts.data)) * self.rarity[counts.indices]
        lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
        counts.data /= np.repeat(lengths, np.diff(counts.indptr))
        return counts


def _once_per_text(tokens: Tokens) -> Keys:
    """Every key as often as there are texts that hold it."""
    order = np.lexsort((tokens.keys, tokens.rows))
    rows, keys = tokens.rows[order], tokens.keys[order]
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = (keys[1:] != keys[:-1]) | (rows[1:] != rows[:-1])
    return keys[first]
