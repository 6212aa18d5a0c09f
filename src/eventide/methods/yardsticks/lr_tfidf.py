"""``lr-tfidf``: class-balanced logistic regression on the words of a message.

A yardstick of ours [C]: words and pairs of neighbouring words, TF-IDF from the training messages,
rows of unit length, L2 penalty with C = 1. No graph, no time, no pretrained vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from eventide.features.encoders.lexicon import Lexicon
from eventide.methods.at_once import messages_of
from eventide.methods.linear_probe import Matrix, ProbedMethod
from eventide.methods.yardsticks.word_weights import WordWeights
from eventide.training.corpus import Corpus
from eventide.training.problem import Problem


class LrTfidf(ProbedMethod):
    """The probe on sparse TF-IDF weights."""

    words: WordWeights

    def fit_vectors(self, problem: Problem) -> Matrix:
        """Learn vocabulary and rarity from the training messages, then weigh all."""
        texts = messages_of(problem.corpus)["text"]
        self.words = WordWeights.fit(texts[problem.training_rows])
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
