"""TwitterLDA: its conditionals against the joint probability, counts, and topics worth having."""

from math import lgamma, log

import numpy as np
import polars as pl
import pytest

from eventide.errors import InputError
from eventide.methods.event_detection.topic_sampler import Priors, TopicSampler, Words
from eventide.methods.event_detection.twitter_lda import (
    TopicModel,
    TwitterLda,
    vocabulary,
    words_of,
)
from eventide.model import EventClassifier

PRIORS = Priors(alpha=0.5, beta=0.1, gamma=3.0, topics=4)
VOCABULARY = 5


def tiny_words(messages=9, seed=0):
    """Messages of 0 to 6 words out of five, many repeated, by three authors."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 7, messages)
    lengths[3] = 0
    rows = np.repeat(np.arange(messages), lengths)
    found = random.integers(VOCABULARY, size=len(rows))
    order = np.lexsort((found, rows))
    return Words(rows[order], found[order], VOCABULARY, random.integers(3, size=messages))


def log_joint(words, topics, topical, priors):
    """log P(z, y, w) of the model, everything else integrated out, in plain loops."""
    total = 0.0
    for author in range(int(words.authors.max()) + 1):
        chosen = [topics[m] for m in range(len(topics)) if words.authors[m] == author]
        total += lgamma(priors.topics * priors.alpha)
        total -= lgamma(priors.topics * priors.alpha + len(chosen))
        for topic in range(priors.topics):
            total += lgamma(chosen.count(topic) + priors.alpha) - lgamma(priors.alpha)
    sources = [
        [w for w, m, y in zip(words.words, words.messages, topical, strict=True) if y and topics[m] == k]
        for k in range(priors.topics)
    ]  # fmt: skip
    sources.append([w for w, y in zip(words.words, topical, strict=True) if not y])
    for drawn in sources:
        total += lgamma(VOCABULARY * priors.beta) - lgamma(VOCABULARY * priors.beta + len(drawn))
        for word in range(VOCABULARY):
            total += lgamma(drawn.count(word) + priors.beta) - lgamma(priors.beta)
    for value in (0, 1):
        total += lgamma(list(topical).count(value) + priors.gamma)
    return total


@pytest.mark.parametrize("block", [1, 4, 9])
@pytest.mark.parametrize("sweeps", [0, 3])
def test_conditionals_are_those_of_the_joint_probability(block, sweeps):
    words = tiny_words()
    sampler = TopicSampler(words, PRIORS, np.random.default_rng(1), block=block)
    for _ in range(sweeps):
        sampler.sweep()
    topics, topical = sampler.topics.tolist(), sampler.topical.tolist()

    for first in range(0, len(topics), block):
        last = min(first + block, len(topics))
        logits = sampler.topic_logits(first, last)
        found = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        for message in range(first, last):
            joint = [
                log_joint(words, [*topics[:message], k, *topics[message + 1 :]], topical, PRIORS)
                for k in range(PRIORS.topics)
            ]
            expected = np.array(joint) - np.logaddexp.reduce(joint)
            np.testing.assert_allclose(found[message - first], expected, atol=1e-9)

    share = sampler.topical_share(0, len(topics))
    for place in range(len(topical)):
        no, yes = (
            log_joint(words, topics, [*topical[:place], y, *topical[place + 1 :]], PRIORS)
            for y in (0, 1)
        )
        assert log(share[place]) - log(1 - share[place]) == pytest.approx(yes - no, abs=1e-9)


@pytest.mark.parametrize("block", [1, 4, 9])
def test_counts_stay_those_of_the_state(block):
    words = tiny_words(seed=2)
    sampler = TopicSampler(words, PRIORS, np.random.default_rng(1), block=block)
    for _ in range(5):
        sampler.sweep()
    counts = np.zeros((VOCABULARY, PRIORS.topics), dtype=int)
    background = np.zeros(VOCABULARY, dtype=int)
    for message, word, topical in zip(words.messages, words.words, sampler.topical, strict=True):
        if topical:
            counts[word, sampler.topics[message]] += 1
        else:
            background[word] += 1
    authors = np.zeros((3, PRIORS.topics), dtype=int)
    for author, topic in zip(words.authors, sampler.topics, strict=True):
        authors[author, topic] += 1
    np.testing.assert_array_equal(sampler.topic_words, counts)
    np.testing.assert_array_equal(sampler.topic_sizes, counts.sum(axis=0))
    np.testing.assert_array_equal(sampler.background, background)
    np.testing.assert_array_equal(sampler.author_topics, authors)


def test_draws_follow_the_conditionals():
    words = tiny_words()
    sampler = TopicSampler(words, PRIORS, np.random.default_rng(1), block=1)
    start = sampler.topics.copy(), sampler.topical.copy()
    logits = sampler.topic_logits(0, 1)[0]
    drawn = np.zeros(PRIORS.topics)
    for seed in range(2000):
        again = TopicSampler(words, PRIORS, np.random.default_rng(1), block=1)
        np.testing.assert_array_equal(again.topics, start[0])
        again._random = np.random.default_rng(seed)
        again._draw_topics(0, 1)
        drawn[again.topics[0]] += 1
    expected = np.exp(logits - np.logaddexp.reduce(logits))
    np.testing.assert_allclose(drawn / 2000, expected, atol=0.05)


def test_a_message_is_read_by_its_words_and_its_author():
    texts = pl.Series(["flood flood river", "fire smoke", "unheard of"])
    lexicon = vocabulary(pl.Series(["flood river fire smoke the"] * 2))
    place = {
        word: int(lexicon.columns(words_keys(word))[0])
        for word in ("flood", "river", "fire", "smoke", "the")
    }
    topic_words = np.zeros((5, 2), dtype=np.int32)
    topic_words[[place["flood"], place["river"]], 0] = 10, 5
    topic_words[[place["fire"], place["smoke"]], 1] = 10, 5
    background = np.zeros(5, dtype=np.int32)
    background[place["the"]] = 30
    model = TopicModel(lexicon, topic_words, background, Priors(topics=2))
    found = model.posterior(texts, np.array([[0, 0], [0, 0], [3, 0]]))

    beta, switch = 0.01, (30 + 20) / (60 + 40)

    def probability(word, topic):
        of_topic = (topic_words[place[word], topic] + beta) / (15 + 5 * beta)
        return switch * of_topic + (1 - switch) * (background[place[word]] + beta) / (30 + 5 * beta)

    first = [probability("flood", k) ** 2 * probability("river", k) for k in (0, 1)]
    np.testing.assert_allclose(found[0], np.array(first) / sum(first), rtol=1e-9)
    assert found[1, 1] > 0.99
    np.testing.assert_allclose(found[2], [3.5 / 4, 0.5 / 4])


def words_keys(word):
    from eventide.features.encoders.tokens import spelling_keys

    return spelling_keys([word])


def test_topics_tell_events_of_the_sample_apart(small_sample, monkeypatch):
    monkeypatch.setattr(TwitterLda, "priors", Priors(topics=20))
    monkeypatch.setattr(TwitterLda, "sweeps", 40)
    model = EventClassifier(method="twitter-lda", encoder="tfidf-svd:16").fit(small_sample)
    assert model.score(small_sample.filter(pl.col("split") == "test")) > 0.6


def test_words_come_sorted_by_message_then_word():
    texts = pl.Series(["fire flood fire", "", "unheard flood"])
    words = words_of(texts, vocabulary(pl.Series(["fire flood"] * 2)), np.array([0, 1, 0]))
    assert words.messages.tolist() == [0, 0, 0, 2]
    assert words.words.tolist() == [*sorted(words.words[:3]), words.words[3]]
    assert words.starts.tolist() == [0, 3, 3, 4]


def test_topics_need_words():
    with pytest.raises(InputError, match="no word occurs twice"):
        vocabulary(pl.Series(["flood", "fire"]))
