"""Logistic regression, on TF-IDF of words or on the encoder's vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eventide.arrays import unit_rows
from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.errors import InputError
from eventide.features.encoders.tfidf import Tfidf
from eventide.features.encoders.tokens import Lexicon, Scan
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
    def fit(
        cls, vectors: Matrix, labels: Ints, strength: float = 1.0, start: LinearProbe | None = None
    ) -> Self:
        """Minimise ``strength`` (C) * the multinomial log-loss + an L2 penalty by L-BFGS.

        ``labels`` name every class at least once. Every class weighs the same: a message weighs
        n / (classes * messages of its class). Nothing is tuned here, so validation labels are not
        used at all. A ``start`` near the optimum, of fewer messages or classes, saves iterations.
        """
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=strength, class_weight="balanced", max_iter=ROUNDS)
        classes = int(labels.max()) + 1
        if start is not None and classes > 2:
            from_there = start.of(np.arange(classes))
            model.set_params(warm_start=True)
            model.coef_, model.intercept_ = from_there.weights, from_there.bias
        # An optimum that is not quite reached is still a fixed, repeatable classifier.
        with quiet(ConvergenceWarning):
            model.fit(vectors, labels)
        weights = np.asarray(model.coef_, dtype=np.float64)
        bias = np.asarray(model.intercept_, dtype=np.float64)
        if len(weights) == 1:  # two classes: scikit-learn keeps the logit of the second alone
            weights = np.concatenate([np.zeros_like(weights), weights])
            bias = np.concatenate([np.zeros_like(bias), bias])
        return cls(weights, bias)

    def of(self, classes: Ints) -> LinearProbe:
        """Return the probe of these classes alone; one that it does not have gets zeros."""
        there = classes < len(self.bias)
        weights = np.zeros((len(classes), self.weights.shape[1]))
        bias = np.zeros(len(classes))
        weights[there], bias[there] = self.weights[classes[there]], self.bias[classes[there]]
        return LinearProbe(weights, bias)

    def logits(self, vectors: Matrix) -> Logits:
        """Return the logits of vectors [n, width] as [n, C]."""
        return np.asarray(vectors @ self.weights.T + self.bias, dtype=np.float32)


class ProbedMethod(SingleStepMethod):
    """A method that turns messages into vectors without labels and probes them linearly."""

    probe: LinearProbe
    start: LinearProbe | None = None
    """Where fitting starts: the probe of before an update."""

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Learn how to make vectors, and return those of every message of the memory."""
        raise NotImplementedError

    def vectors(self, corpus: Corpus) -> Matrix:
        """Return the vectors of new messages, each made by itself."""
        raise NotImplementedError

    def learn(self, training_set: TrainingSet) -> Logits:
        """Fit vectors, then the probe on those of the training messages."""
        vectors, rows = self.fit_vectors(training_set), training_set.training_rows
        strength = self.settings.training.probe_strength
        labels = training_set.labels[rows]
        self.probe = LinearProbe.fit(vectors[rows], labels, strength, self.start)
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
"""Words and pairs that are weighed, the commonest ones."""


class LrTfidf(ProbedMethod):
    """The probe on sparse TF-IDF weights."""

    words: Tfidf

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Learn vocabulary and rarity from the training messages, then weigh all."""
        texts = messages_of(training_set.corpus)["text"]
        training = Scan(texts[training_set.training_rows])
        tokens = training.words_and_pairs()
        self.words = Tfidf.fit([tokens], texts=training.texts, most=MOST)
        if not len(self.words.lexicon):
            raise InputError(
                "no word occurs in two training messages, so there is nothing to weigh",
                where=f"{training.texts} training messages",
                next_step="give more training messages, or another method",
            )
        return self.vectors(training_set.corpus)

    def vectors(self, corpus: Corpus) -> Matrix:
        """Weigh the words of new messages."""
        scan = Scan(messages_of(corpus)["text"])
        return self.words.weights(scan.words_and_pairs(), texts=scan.texts)

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the probe, the vocabulary's keys and their rarity."""
        lexicon, rarity = self.words
        return {**super().learned(), "words.keys": lexicon.keys, "words.rarity": rarity}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take them back."""
        super().recall(arrays)
        self.words = Tfidf(Lexicon(arrays["words.keys"]), arrays["words.rarity"])


class LrEncoder(ProbedMethod):
    """The probe on the vectors of a corpus."""

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Nothing to learn: the encoder has done that."""
        return self.vectors(training_set.corpus)

    def vectors(self, corpus: Corpus) -> Matrix:
        """Return the encoder's vectors, of unit length."""
        return unit_rows(corpus.features)
