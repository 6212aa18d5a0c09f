"""Twitter-LDA topics of the training messages, read by logistic regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus
from eventide.corpus.training_set import TrainingSet
from eventide.errors import InputError
from eventide.features.encoders.pooling import count_matrix
from eventide.features.encoders.tokens import Lexicon, Scan, frequent, tally
from eventide.graphs.keys import KeyIndex, Keys
from eventide.methods.baselines.logistic_regression import Matrix, ProbedMethod
from eventide.methods.event_detection.topic_sampler import Floats, Ints, Priors, TopicSampler, Words
from eventide.methods.single_step import messages_of
from eventide.progress import track


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


NOBODY = -1
MOST_WORDS = 50_000


class TwitterLda(ProbedMethod):
    """The probe on P(topic | message)."""

    priors: ClassVar[Priors] = Priors()
    sweeps: ClassVar[int] = 100

    model: TopicModel
    users: Keys
    topics: Ints
    """The topic of each message of the memory, `NOBODY` where its author is not known."""

    def fit_vectors(self, training_set: TrainingSet) -> Matrix:
        """Sample topics from the text of the whole memory, then read every message with them."""
        messages = messages_of(training_set.corpus)
        lexicon = vocabulary(messages["text"])
        known = messages["user"].is_not_null().to_numpy()
        self.users = training_set.corpus.users
        random = np.random.default_rng(self.seed)
        # Messages come by time: shuffled, those drawn side by side have little to do with another.
        order = random.permutation(len(messages))
        authors = _numbered(self.users, known)[order]
        words = words_of(messages["text"][order], lexicon, authors)
        sampler = TopicSampler(words, self.priors, random)
        for _ in track(range(self.sweeps), "sampling topics", total=self.sweeps):
            sampler.sweep()
        topics = sampler.topics[np.argsort(order)]
        self.topics = np.where(known, topics, NOBODY)
        self.model = TopicModel(
            lexicon,
            sampler.topic_words.astype(np.int32),
            sampler.background.astype(np.int32),
            self.priors,
        )
        others = self._author_topics(self.users, known)
        others[known, topics[known]] -= 1  # a message does not speak for itself
        return self.model.posterior(messages["text"], others)

    def vectors(self, corpus: Corpus) -> Matrix:
        """Fold new messages in, each by itself."""
        messages = messages_of(corpus)
        known = messages["user"].is_not_null().to_numpy()
        return self.model.posterior(messages["text"], self._author_topics(corpus.users, known))

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the probe, what the topics are about, and the topic of each message."""
        return {
            **super().learned(),
            "topics.keys": self.model.lexicon.keys,
            "topics.words": self.model.topic_words,
            "topics.background": self.model.background,
            "rows.topics": self.topics,
        }

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take them back."""
        super().recall(arrays)
        self.model = TopicModel(
            Lexicon(arrays["topics.keys"]),
            arrays["topics.words"],
            arrays["topics.background"],
            self.priors,
        )
        self.topics = arrays["rows.topics"]

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Take them back, and the authors from the memory."""
        super().restore(arrays, corpus)
        self.users = corpus.users

    def _author_topics(self, users: Keys, known: NDArray[np.bool_]) -> Ints:
        """Count the topics of each author's messages in the memory [n, K]; strangers have none."""
        named = self.topics != NOBODY
        distinct, author = np.unique(self.users[named], return_inverse=True)
        counts = np.zeros((len(distinct) + 1, self.priors.topics), dtype=np.int64)
        np.add.at(counts, (author, self.topics[named]), 1)
        # The last row, which -1 means, is that of strangers.
        return counts[np.where(known, KeyIndex(distinct).find(users), -1)]


def vocabulary(texts: pl.Series) -> Lexicon:
    """Return the words that occur at least twice."""
    keys, _ = frequent(tally([Scan(texts).words().keys]), least=2, most=MOST_WORDS)
    if not len(keys):
        raise InputError(
            "no word occurs twice in the messages, so there are no topics to find",
            where=f"{len(texts)} messages",
            next_step="give more messages, or another method",
        )
    return Lexicon(keys)


def words_of(texts: pl.Series, lexicon: Lexicon, authors: Ints) -> Words:
    """List the known words of texts, sorted by text, then by word."""
    rows, keys = Scan(texts).words()
    words = lexicon.columns(keys)
    rows, words = rows[words >= 0], words[words >= 0]
    order = np.lexsort((words, rows))
    return Words(rows[order], words[order], len(lexicon), authors)


def _numbered(users: Keys, known: NDArray[np.bool_]) -> Ints:
    """Number the authors of messages; each message without one counts as somebody else."""
    distinct, author = np.unique(users, return_inverse=True)
    author[~known] = len(distinct) + np.arange(int((~known).sum()))
    _, numbers = np.unique(author, return_inverse=True)
    return numbers.astype(np.int64)
