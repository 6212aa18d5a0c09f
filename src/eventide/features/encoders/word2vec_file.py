"""``word2vec:<file>``: the mean of word vectors read from a KeyedVectors file."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from eventide.features.encoders.base import State, TextEncoder, Vectors
from eventide.features.encoders.fingerprint import file_fingerprint
from eventide.features.encoders.keyed_vectors import read_keyed_vectors
from eventide.features.encoders.lexicon import Lexicon
from eventide.features.encoders.pooling import count_matrix, row_means
from eventide.features.encoders.tokens import Scan, spelling_keys
from eventide.storage import expanded


class WordVectors:
    """Words by key and their vectors: the mean over a text's known words."""

    def __init__(self, lexicon: Lexicon, table: Vectors) -> None:
        self.lexicon = lexicon
        self.table = table

    def means(self, texts: list[str]) -> Vectors:
        """Return the mean vector of every text; no known word gives the zero vector."""
        rows, keys = Scan(texts).words()
        shape = (len(texts), len(self.lexicon))
        return row_means(count_matrix(rows, self.lexicon.columns(keys), shape), self.table)


class Word2VecFile(TextEncoder):
    """Mean of the file's vectors over the words of a message, whatever their case.

    Spellings that differ in case share the vector of the first one in the file: files are sorted by
    frequency. Phrases (``New_York``) match only where the text is written so.
    """

    def __init__(self, path: str) -> None:
        super().__init__(f"word2vec:{path}")
        self._path = expanded(path)

    @property
    def width(self) -> int:
        """The width the file states."""
        return int(self._words.table.shape[1])

    def vectors(self, texts: list[str]) -> Vectors:
        """Average the vectors of the words that the file knows."""
        return self._words.means(texts)

    def state(self) -> State:
        """The checksum of the file: the vectors themselves stay where they are."""
        return State({}, {"width": self.width, "sha256": self._sha256})

    @cached_property
    def _sha256(self) -> str:
        return file_fingerprint(self._path)

    @cached_property
    def _words(self) -> WordVectors:
        words, table = read_keyed_vectors(self._path)
        keys, first = np.unique(spelling_keys(words), return_index=True)
        return WordVectors(Lexicon(keys), table[first])
