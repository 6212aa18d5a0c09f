"""``tfidf-svd``: latent semantic analysis of the training text, in any script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from eventide.arrays import unit_rows
from eventide.errors import InputError
from eventide.features.encoders.pooling import truncated_svd
from eventide.features.encoders.text_encoder import (
    State,
    TextEncoder,
    Vectors,
    check_facts,
    damaged,
    not_fitted,
    required,
    text_column,
    whole_number,
)
from eventide.features.encoders.tfidf import Tfidf
from eventide.features.encoders.tokens import Lexicon, Scan, Tokens
from eventide.progress import step, track

if TYPE_CHECKING:
    import polars as pl

MOST_FITTED = 100_000


class Fitted(NamedTuple):
    """What ``fit`` learned: the n-grams with the rarity of each, the projection of each."""

    tfidf: Tfidf
    directions: Vectors


class TfidfSvd(TextEncoder):
    """TF-IDF of the characters of words, three and four at a time, on its singular vectors.

    Pieces of words need no list of words, read scripts without spaces and see through inflection
    and joined hashtags; on validation messages they beat words and word pairs (docs/encoders.md).
    Vectors have unit length. ``tfidf-svd:128`` asks for 128 values instead of 256; a small corpus
    gives fewer.
    """

    many_threads = True

    def __init__(
        self,
        argument: str | None = None,
        *,
        lengths: tuple[int, ...] = (3, 4),
        most: int = 30_000,
    ) -> None:
        super().__init__("tfidf-svd" if argument is None else f"tfidf-svd:{argument}")
        self._asked = whole_number("tfidf-svd", argument, default=256)
        self._lengths = lengths
        self._most = most
        self._fitted: Fitted | None = None

    @property
    def width(self) -> int:
        """Values per message: what was asked for, or the rank of the training text."""
        return int(self._known().directions.shape[1])

    def fit(self, messages: pl.DataFrame) -> Self:
        """Learn n-grams, their rarity and the projection; of a huge corpus, from an even sample."""
        texts = text_column(messages)
        texts = texts.gather_every(max(-(-len(texts) // MOST_FITTED), 1))
        batches = (self._tokens(scan) for scan in self._scans(texts))
        tfidf = Tfidf.fit(batches, texts=len(texts), most=self._most)
        if not len(tfidf.lexicon):
            raise InputError(
                "the encoder 'tfidf-svd' finds nothing that two training messages share",
                where=f"{len(texts)} training messages",
                next_step="give more training messages, or use the encoder 'wordllama'",
            )
        blocks = [
            tfidf.weights(self._tokens(scan), texts=scan.texts) for scan in self._scans(texts)
        ]
        with step(f"fitting {self.name}: the projection"):
            _, directions = truncated_svd(sparse.vstack(blocks, format="csr"), self._asked)
        # half precision halves the model; rounded here so that a stored model encodes the same
        rounded = directions.astype(np.float16).astype(np.float32)
        self._fitted = Fitted(tfidf, rounded)
        return self

    def vectors(self, texts: list[str]) -> Vectors:
        """Project the batch's TF-IDF weights and scale to unit length."""
        tfidf, directions = self._known()
        weights = tfidf.weights(self._tokens(Scan(texts)), texts=len(texts))
        return unit_rows(weights @ directions)

    def state(self) -> State:
        """Keys of the known n-grams, their rarity, the projection."""
        (lexicon, rarity), directions = self._known()
        arrays: dict[str, npt.NDArray[Any]] = {
            "keys": lexicon.keys,
            "rarity": rarity,
            "directions": directions.astype(np.float16),
        }
        return State(arrays, {"lengths": list(self._lengths)})

    def restore(self, state: State) -> Self:
        """Take over a fitted state."""
        check_facts({"lengths": list(self._lengths)}, state, self.name)
        keys = required(state, "keys", self.name, np.uint64)
        rarity = required(state, "rarity", self.name, np.float32)
        directions = required(state, "directions", self.name, np.float16)
        if not len(keys) == len(rarity) == len(directions) or directions.ndim != 2:
            raise damaged(self.name)
        self._fitted = Fitted(Tfidf(Lexicon(keys), rarity), directions.astype(np.float32))
        return self

    def _known(self) -> Fitted:
        if self._fitted is None:
            raise not_fitted(self.name)
        return self._fitted

    def _tokens(self, scan: Scan) -> Tokens:
        parts = [scan.ngrams(length) for length in self._lengths]
        rows, keys = zip(*parts, strict=True)
        return Tokens(np.concatenate(rows), np.concatenate(keys))

    def _scans(self, texts: pl.Series) -> Iterator[Scan]:
        starts = range(0, len(texts), self.batch_size)
        for start in track(starts, f"fitting {self.name}", total=len(starts)):
            yield Scan(texts.slice(start, self.batch_size))
