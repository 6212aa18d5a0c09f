"""tfidf-svd, trained word vectors and their shared decomposition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from eventide.errors import EventideError, InputError, UnreadableSource
from eventide.features.encoders import State, encoder
from eventide.features.encoders.pooling import count_matrix, row_means, truncated_svd
from eventide.features.encoders.tfidf_svd import TfidfSvd
from eventide.features.encoders.tokens import Scan
from eventide.features.encoders.word2vec_trained import cooccurrences, positive_information

TOPICS = {
    "flood": "water rises over the river bank bridge closed rescue boats",
    "fire": "smoke and flames burn forest hills evacuated helicopters",
    "quake": "地震 東京 強い揺れ 津波 警報 避難",
}


def corpus(count: int = 60) -> pl.DataFrame:
    generator = np.random.default_rng(3)
    topics = list(TOPICS)
    events = [topics[n % 3] for n in range(count)]
    texts = [" ".join(generator.choice(TOPICS[event].split(), 4)) for event in events]
    return pl.DataFrame({"id": [str(n) for n in range(count)], "text": texts, "event": events})


def frame(*texts: str) -> pl.DataFrame:
    return pl.DataFrame({"text": texts})


@pytest.mark.parametrize("name", ["tfidf-svd", "word2vec"])
def test_messages_of_one_topic_are_nearest(name: str) -> None:
    messages = corpus()
    vectors = encoder(name).fit(messages).encode(messages)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    events = messages["event"].to_numpy()
    same = events[:, None] == events[None, :]
    similar = vectors @ vectors.T
    assert similar[same].mean() > similar[~same].mean() + 0.3


@pytest.mark.parametrize("name", ["tfidf-svd", "word2vec"])
def test_nothing_in_common_is_a_typed_error(name: str) -> None:
    with pytest.raises(InputError, match="2 training messages"):
        encoder(name).fit(frame("alpha", "omega"))
    with pytest.raises(InputError, match="0 training messages"):
        encoder(name).fit(frame("alpha").head(0))


@pytest.mark.parametrize("name", ["tfidf-svd", "word2vec", "precomputed"])
def test_encoding_before_fitting_is_a_typed_error(name: str) -> None:
    messages = corpus().with_columns(vector=pl.lit([1.0]))
    with pytest.raises(EventideError, match="not been fitted"):
        encoder(name).encode(messages)


def test_unknown_text_is_the_zero_vector() -> None:
    fitted = encoder("tfidf-svd").fit(corpus())
    assert not fitted.encode(frame("žžžž")).any()


def test_inflected_and_joined_words_are_near() -> None:
    fitted = TfidfSvd().fit(corpus())
    plain, joined, other = fitted.encode(frame("river bridge", "#RiverBridges", "forest smoke"))
    assert plain @ joined > 0.8 > 0.3 > plain @ other


def test_width_is_what_was_asked_or_the_rank() -> None:
    assert encoder("tfidf-svd:5").fit(corpus()).width == 5
    assert encoder("tfidf-svd").fit(frame("same words", "same words", "other", "other")).width == 2


def test_weights_are_textbook_tfidf() -> None:
    texts = ["aba", "aba abac", "zzz"]
    fitted = TfidfSvd(lengths=(3,)).fit(frame(*texts, "zzz"))
    tokens = Scan(texts).ngrams(3)
    weights = fitted._known().tfidf.weights(tokens, texts=len(texts)).toarray()
    # known 3-grams: " ab", "aba" and "ba " in two texts of four, " zz", "zzz", "zz " too
    idf = np.log(5 / 3) + 1
    twice = (1 + np.log(2)) * idf
    row = np.array([twice, twice, idf])  # " ab" and "aba" come twice in text 1, "ba " once
    assert sorted(weights[1][weights[1] > 0]) == pytest.approx(sorted(row / np.linalg.norm(row)))
    np.testing.assert_allclose(np.linalg.norm(weights, axis=1), 1, atol=1e-6)


def test_a_huge_corpus_is_fitted_on_an_even_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eventide.features.encoders.tfidf_svd.MOST_FITTED", 20)
    messages = corpus(60)
    sampled = TfidfSvd().fit(messages).encode(messages)
    assert sampled.tobytes() == TfidfSvd().fit(messages.gather_every(3)).encode(messages).tobytes()


def test_arrays_that_do_not_fit_together_are_refused() -> None:
    for name in ("tfidf-svd", "word2vec"):
        arrays, facts = encoder(name).fit(corpus()).state()
        with pytest.raises(UnreadableSource, match="damaged"):
            encoder(name).restore(State(arrays | {"keys": arrays["keys"][1:]}, facts))


def test_no_word_of_the_training_text_is_in_the_state() -> None:
    for name in ("tfidf-svd", "word2vec"):
        arrays, facts = encoder(name).fit(corpus()).state()
        assert "river" not in str(facts)
        assert all(array.dtype.kind in "uf" for array in arrays.values())


def test_decomposition_is_that_of_lapack_with_fixed_signs() -> None:
    dense = np.random.default_rng(0).normal(size=(30, 12)).astype(np.float32)
    dense[np.abs(dense) < 1] = 0
    values, directions = truncated_svd(sparse.csr_array(dense), 4)
    _, expected, right = np.linalg.svd(dense)
    np.testing.assert_allclose(values, expected[:4], rtol=1e-3)
    np.testing.assert_allclose(np.abs(np.sum(directions.T * right[:4], axis=1)), 1, atol=1e-3)
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
    assert (largest > 0).all()


def test_row_means_skip_unknown_columns() -> None:
    rows, columns = np.array([0, 0, 0, 2]), np.array([1, 1, -1, 0])
    table = np.array([[1, 2], [3, 6]], dtype=np.float32)
    means = row_means(count_matrix(rows, columns, (3, 2)), table)
    assert means.tolist() == [[3, 6], [0, 0], [1, 2]]


def test_cooccurrences_stay_in_their_text_and_fade_with_distance() -> None:
    counts = cooccurrences(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 2]), 3).toarray()
    assert np.allclose(counts, [[0, 1, 0.8], [1, 0, 1], [0.8, 1, 0]])
    assert np.array_equal(cooccurrences(np.array([0]), np.array([0]), 1).toarray(), [[0]])


def test_information_is_the_written_out_formula() -> None:
    counts = np.array([[0, 4, 1], [4, 0, 0], [1, 0, 2.0]])
    words = counts.sum(axis=1)
    smooth = words**0.75 / (words**0.75).sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(
            np.log(counts / counts.sum() / np.outer(words / counts.sum(), smooth)), 0
        )
    found = positive_information(sparse.csr_array(counts)).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-6)
