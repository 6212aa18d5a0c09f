"""Collapsed Gibbs sampling for TwitterLDA, a block of messages at a time.

Every message has one topic z, every word a switch y: from its message's topic, or from the
background that all messages share. Topics, background, switch and each author's taste for topics
are integrated out, so the state is z, y and counts of them.

Each draw is from the exact conditional given the state when its block began; the messages of a
block (then their words) are drawn side by side, so they do not see each other's new values. Blocks
are small (`block_size`) against the counts; with blocks of one message, topics are drawn exactly
one after the other. This is the approximation of Newman et al., "Distributed Algorithms for Topic
Models" (2009), in a mild form, and what makes numpy fast enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Priors:
    """Pseudo-counts of an author's topics, of words, and of the switch; and how many topics."""

    alpha: float = 0.5
    beta: float = 0.01
    gamma: float = 20.0
    topics: int = 100


@dataclass(frozen=True)
class Words:
    """The known words of N messages: message and word of each, sorted by message, then by word."""

    messages: Ints
    words: Ints
    vocabulary: int
    authors: Ints
    """The author of each message [N], numbered from 0."""

    @property
    def starts(self) -> Ints:
        """Where the words of each message begin, and where the last one's end [N + 1]."""
        return np.searchsorted(self.messages, np.arange(len(self.authors) + 1))


def block_size(messages: int) -> int:
    """Return how many messages are drawn side by side: 64, but at most a twentieth of all.

    >>> block_size(9), block_size(400), block_size(20_000)
    (1, 20, 64)
    """
    return min(max(messages // 20, 1), 64)


class TopicSampler:
    """The state of the chain: ``topics`` [N], ``topical`` [words], and the counts they imply."""

    def __init__(
        self, words: Words, priors: Priors, random: np.random.Generator, block: int | None = None
    ) -> None:
        self.words, self.priors, self._random = words, priors, random
        self._starts = words.starts
        self._block = block or block_size(len(words.authors))
        self.topics: Ints = random.integers(priors.topics, size=len(words.authors))
        self.topical: Ints = random.integers(2, size=len(words.words))
        drawn = self.topical == 1
        shape = (words.vocabulary, priors.topics)
        self.topic_words: Ints = np.zeros(shape, dtype=np.int64)
        self.background: Ints = np.bincount(words.words[~drawn], minlength=words.vocabulary)
        np.add.at(self.topic_words, (words.words, self.topics[words.messages]), self.topical)
        self.topic_sizes: Ints = self.topic_words.sum(axis=0)
        people = int(words.authors.max(initial=-1)) + 1
        self.author_topics: Ints = np.zeros((people, priors.topics), dtype=np.int64)
        np.add.at(self.author_topics, (words.authors, self.topics), 1)
        # Counts are whole numbers: logarithms are looked up, not computed.
        numbers = np.arange(max(len(words.words), len(words.authors)) + 1)
        self._log_words = np.log(numbers + priors.beta)
        self._log_sizes = gammaln(numbers + words.vocabulary * priors.beta)
        self._log_authors = np.log(numbers + priors.alpha)

    def sweep(self) -> None:
        """Draw every topic and every switch once."""
        for first in range(0, len(self.topics), self._block):
            last = min(first + self._block, len(self.topics))
            self._draw_topics(first, last)
            self._draw_switches(first, last)

    def topic_logits(self, first: int, last: int) -> Floats:
        """Return log P(topic | all else) of messages ``first`` to ``last`` [B, K], unnormalised.

        Per message m by author a, with its own counts taken out: log(n_ak + alpha), plus the words
        of the topic one after the other, log(n_kw + beta + earlier w of m), less those of any word.
        """
        message, word = self._topical_words(first, last)
        size, own = last - first, self.topics[first:last]
        begins = np.ones(len(word), dtype=bool)
        begins[1:] = (message[1:] != message[:-1]) | (word[1:] != word[:-1])
        group = np.cumsum(begins) - 1
        earlier = np.arange(len(word)) - np.flatnonzero(begins)[group]

        counts = self.topic_words[word]
        counts[np.arange(len(word)), own[message]] -= np.bincount(group)[group]
        logits = np.zeros((size, self.priors.topics))
        present, places = np.unique(message, return_index=True)
        if len(present):
            terms = self._log_words[counts + earlier[:, None]]
            logits[present] = np.add.reduceat(terms, places, axis=0)

        rows, length = np.arange(size), np.bincount(message, minlength=size)
        sizes = np.tile(self.topic_sizes, (size, 1))
        sizes[rows, own] -= length
        logits -= self._log_sizes[sizes + length[:, None]] - self._log_sizes[sizes]
        authors = self.author_topics[self.words.authors[first:last]]
        authors[rows, own] -= 1
        logits += self._log_authors[authors]
        return logits

    def topical_share(self, first: int, last: int) -> Floats:
        """Return P(from the topic | all else) of each word of messages ``first`` to ``last``."""
        start, stop = self._starts[first], self._starts[last]
        word, now = self.words.words[start:stop], self.topical[start:stop]
        topic = self.topics[self.words.messages[start:stop]]
        beta, gamma = self.priors.beta, self.priors.gamma
        spread = self.words.vocabulary * beta
        total = int(self.topic_sizes.sum())
        rest = len(self.topical) - total
        of_topic = (self.topic_words[word, topic] - now + beta) * (total - now + gamma)
        of_topic /= self.topic_sizes[topic] - now + spread
        of_all = (self.background[word] - (1 - now) + beta) * (rest - (1 - now) + gamma)
        of_all /= rest - (1 - now) + spread
        share: Floats = of_topic / (of_topic + of_all)
        return share

    def _topical_words(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return message (counted from ``first``) and word where the word is from the topic."""
        start, stop = self._starts[first], self._starts[last]
        drawn = np.flatnonzero(self.topical[start:stop]) + start
        return self.words.messages[drawn] - first, self.words.words[drawn]

    def _draw_topics(self, first: int, last: int) -> None:
        logits = self.topic_logits(first, last)
        weights = np.cumsum(np.exp(logits - logits.max(axis=1, keepdims=True)), axis=1)
        chosen = self._random.random((last - first, 1)) * weights[:, -1:]
        old, new = self.topics[first:last].copy(), (weights < chosen).sum(axis=1)
        message, word = self._topical_words(first, last)
        for topics, change in ((old, -1), (new, 1)):
            np.add.at(self.topic_words, (word, topics[message]), change)
            np.add.at(self.topic_sizes, topics[message], change)
            np.add.at(self.author_topics, (self.words.authors[first:last], topics), change)
        self.topics[first:last] = new

    def _draw_switches(self, first: int, last: int) -> None:
        share = self.topical_share(first, last)
        start, stop = self._starts[first], self._starts[last]
        new = (self._random.random(len(share)) < share).astype(np.int64)
        change = new - self.topical[start:stop]
        word = self.words.words[start:stop]
        topic = self.topics[self.words.messages[start:stop]]
        np.add.at(self.topic_words, (word, topic), change)
        np.add.at(self.topic_sizes, topic, change)
        np.add.at(self.background, word, -change)
        self.topical[start:stop] = new
