"""Logistic regression, on TF-IDF of words or on the encoder's vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.errors import InputError
from eventide.features.encoders.pooling import count_matrix, unit_rows
from eventide.features.encoders.tokens import Keys, Lexicon, Scan, Tokens, frequent
from eventide.methods.single_step import Logits, SingleStepMethod, messages_of
from eventide.runtime.quiet import quiet

Matrix: TypeAlias = NDArray[np.floating[Any]] | sparse.csr_array
ROUNDS = 1000


@dataclass(frozen=True)
class LinearProbe:
    """Weights [C, width] and biases [C]: logits are ``vectors @ weights.T + bias``."""

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    @classmethod
    def fit(cls, vectors: Matrix, labels: Ints) -> Self:
        """Minimise the multinomial log-loss with an L2 penalty (C = 1) by L-BFGS.

        ``labels`` name every class at least once. Every class weighs the same: a message weighs
        n / (classes * messages of its class). The penalty is not tuned, so validation labels are
        not used at all.
        """
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=ROUNDS)
        # An optimum that is not quite reached is still a fixed, repeatable classifier.
        with quiet(ConvergenceWarning):
            model.fit(vectors, labels)
        weights = np.asarray(model.coef_, dtype=np.float64)
        bias = np.asarray(model.intercept_, dtype=np.float64)
        if len(weights) == 1:  # two classes: scikit-learn keeps the logit of the second alone
            weights = np.concatenate([np.zeros_like(weights), weights])
            bias = np.concatenate([np.zeros_like(bias), bias])
        return cls(weights, bias)

    def logits(self, vectors: Matrix) -> Logits:
        """Return the logits of vectors [n, width] as [n, C]."""
        return np.asarray(vectors @ self.weights.T + self.bias, dtype=np.float32)


class ProbedMethod(SingleStepMethod):
    """A method that turns messages into vectors without labels and probes them linearly."""

    probe: LinearProbe

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Learn how to make vectors, and return those of every message of the memory."""
        raise NotImplementedError

    def vectors(self, corpus: Corpus) -> Matrix:
        """Return the vectors of new messages, each made by itself."""
        raise NotImplementedError

    def learn(self, training_set: TrainingSet) -> Logits:
        """Fit vectors, then the probe on those of the training messages."""
        vectors, rows = self.fit_vectors(training_set), training_set.training_rows
        self.probe = LinearProbe.fit(vectors[rows], training_set.labels[rows])
        return self.probe.logits(vectors)

    def logits(self, corpus: Corpus) -> Logits:
        """Probe the vectors of new messages."""
        return self.probe.logits(self.vectors(corpus))

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the probe; a method adds what its vectors need."""
        return {"probe.weights": self.probe.weights, "probe.bias": self.probe.bias}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take the probe back."""
        self.probe = LinearProbe(arrays["probe.weights"], arrays["probe.bias"])


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


class LrTfidf(ProbedMethod):
    """The probe on sparse TF-IDF weights."""

    words: WordWeights

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Learn vocabulary and rarity from the training messages, then weigh all."""
        texts = messages_of(training_set.corpus)["text"]
        self.words = WordWeights.fit(texts[training_set.training_rows])
        return self.words.weigh(texts)

    def vectors(self, corpus: Corpus) -> Matrix:
        """Weigh the words of new messages."""
        return self.words.weigh(messages_of(corpus)["text"])

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the probe, the vocabulary's keys and their rarity."""
        lexicon, rarity = self.words
        return {**super().learned(), "words.keys": lexicon.keys, "words.rarity": rarity}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take them back."""
        super().recall(arrays)
        self.words = WordWeights(Lexicon(arrays["words.keys"]), arrays["words.rarity"])


class LrEncoder(ProbedMethod):
    """The probe on the vectors of a corpus."""

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Nothing to learn: the encoder has done that."""
        return self.vectors(training_set.corpus)

    def vectors(self, corpus: Corpus) -> Matrix:
        """Return the encoder's vectors, of unit length."""
        return unit_rows(corpus.features)
