"""``word2vec`` without a file: word vectors learned from the training text itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse

from eventide.errors import InputError
from eventide.features.encoders.pooling import truncated_svd
from eventide.features.encoders.text_encoder import (
    Encoder,
    State,
    TextEncoder,
    Vectors,
    damaged,
    not_fitted,
    required,
    text_column,
)
from eventide.features.encoders.tokens import Keys, Lexicon, Rows, Scan, frequent, tally
from eventide.features.encoders.word2vec_file import Word2VecFile, WordVectors

if TYPE_CHECKING:
    import polars as pl

WIDTH, WINDOW, MOST_WORDS, SMOOTHING = 256, 5, 50_000, 0.75


def word2vec(argument: str | None = None) -> Encoder:
    """Make the encoder of ``word2vec:<file>``, or without a file the one that learns."""
    return FactorisedWordVectors() if argument is None else Word2VecFile(argument)


class FactorisedWordVectors(TextEncoder):
    """Mean of word vectors from a factorised co-occurrence matrix: not a neural skip-gram.

    Skip-gram with negative sampling implicitly factorises the matrix of pointwise mutual
    information (Levy and Goldberg, 2014). Here that matrix, its positive part, is factorised
    directly: same idea, deterministic, quick on a small corpus. Window 5 with word2vec's linear
    weights, context counts smoothed by the power 0.75, vectors scaled by the root of the singular
    values.
    """

    def __init__(self) -> None:
        super().__init__("word2vec")
        self._words: WordVectors | None = None

    @property
    def width(self) -> int:
        """256, or fewer if the training text has fewer words."""
        return int(self._known().table.shape[1])

    def fit(self, messages: pl.DataFrame) -> Self:
        """Count which words stand near each other in the training text and factorise."""
        texts = text_column(messages)
        scans = [
            Scan(texts.slice(start, self.batch_size)).words()
            for start in range(0, len(texts), self.batch_size)
        ]
        keys, _ = frequent(tally(keys for _, keys in scans), least=2, most=MOST_WORDS)
        lexicon = Lexicon(keys)
        counts = sparse.csr_array((len(keys), len(keys)), dtype=np.float64)
        for rows, found in scans:
            counts = counts + cooccurrences(rows, lexicon.columns(found), len(keys))
        if counts.nnz == 0:
            raise InputError(
                "the encoder 'word2vec' finds no two known words side by side in the training text",
                where=f"{len(texts)} training messages",
                next_step="give more training messages, or a file: word2vec:FILE",
            )
        values, directions = truncated_svd(positive_information(counts), WIDTH)
        self._words = WordVectors(lexicon, directions * np.sqrt(values))
        return self

    def vectors(self, texts: list[str]) -> Vectors:
        """Average the vectors of the words seen in training."""
        return self._known().means(texts)

    def state(self) -> State:
        """The words' keys and vectors."""
        known = self._known()
        return State({"keys": known.lexicon.keys, "table": known.table}, {})

    def restore(self, state: State) -> Self:
        """Take over a fitted state."""
        keys: Keys = required(state, "keys", self.name, np.uint64)
        table: Vectors = required(state, "table", self.name, np.float32)
        if table.ndim != 2 or len(keys) != len(table):
            raise damaged(self.name)
        self._words = WordVectors(Lexicon(keys), table)
        return self

    def _known(self) -> WordVectors:
        if self._words is None:
            raise not_fitted(self.name)
        return self._words


def cooccurrences(rows: Rows, columns: Rows, size: int) -> sparse.csr_array:
    """Count words up to five words apart in a text, nearer ones for more; symmetric."""
    left, right, weights = [], [], []
    for distance in range(1, WINDOW + 1):
        one, other = columns[:-distance], columns[distance:]
        near = (rows[:-distance] == rows[distance:]) & (one >= 0) & (other >= 0)
        left.append(one[near])
        right.append(other[near])
        weights.append(np.full(int(near.sum()), (WINDOW + 1 - distance) / WINDOW))
    index = (np.concatenate(left), np.concatenate(right))
    half = sparse.csr_array((np.concatenate(weights), index), shape=(size, size))
    return sparse.csr_array(half + half.T)


def positive_information(counts: sparse.csr_array) -> sparse.csr_array:
    """Return max(0, log p(w, c) / (p(w) p'(c))), where p' is smoothed; zeros are not stored."""
    words = counts.sum(axis=1)
    contexts = words**SMOOTHING
    found = counts.tocoo()
    row, column = found.coords
    expected = words[row] * contexts[column] / contexts.sum()
    information = np.maximum(np.log(found.data / expected), 0).astype(np.float32)
    kept = sparse.csr_array((information, (row, column)), shape=counts.shape)
    kept.eliminate_zeros()
    return kept
