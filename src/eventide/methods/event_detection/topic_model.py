"""What a sampled TwitterLDA leaves behind: which words each topic likes, and how to read so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.features.encoders.lexicon import Lexicon
from eventide.features.encoders.pooling import count_matrix
from eventide.features.encoders.tokens import Scan
from eventide.methods.event_detection.topic_sampler import Floats, Ints, Priors


@dataclass(frozen=True)
class TopicModel:
    """Known words, and how often each came from each topic [V, K] and from the background [V]."""

    lexicon: Lexicon
    topic_words: NDArray[np.int32]
    background: NDArray[np.int32]
    priors: Priors

    def posterior(self, texts: pl.Series, author_topics: Ints) -> Floats:
        """Return P(topic | message) [n, K] of texts whose authors chose topics so often [n, K].

        A word counts with (switch * P(word | topic) + (1 - switch) * P(word | background)), so
        nothing is drawn and a message is read the same way whenever it comes.
        """
        rows, keys = Scan(texts).words()
        shape = (len(texts), len(self.lexicon))
        counts = count_matrix(rows, self.lexicon.columns(keys), shape)
        logits = counts.astype(np.float64) @ self._log_words
        logits += np.log(author_topics + self.priors.alpha)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        found: Floats = weights
        return found

    @cached_property
    def _log_words(self) -> Floats:
        """Return log P(word | message's topic) [V, K], the switch summed out."""
        beta, gamma = self.priors.beta, self.priors.gamma
        spread = len(self.lexicon) * beta
        topical, rest = self.topic_words.sum(), self.background.sum()
        switch = (topical + gamma) / (topical + rest + 2 * gamma)
        of_topic = (self.topic_words + beta) / (self.topic_words.sum(axis=0) + spread)
        of_all = (self.background + beta) / (rest + spread)
        found: Floats = np.log(switch * of_topic + (1 - switch) * of_all[:, None])
        return found
