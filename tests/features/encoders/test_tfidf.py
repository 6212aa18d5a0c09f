"""Our TF-IDF against scikit-learn's."""

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer

from eventide.features.encoders.tfidf import Tfidf
from eventide.features.encoders.tokens import Scan

TEXTS = pl.Series(
    ["big flood in town", "flood in town", "a big fire", "Fire! http://a.b/c", "big big fire", "🔥"]
)


def test_weights_of_words_and_pairs_are_those_of_scikit_learn():
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, min_df=2, token_pattern=r"\w+"
    )
    expected = vectorizer.fit_transform(TEXTS.str.replace("http.*", "").to_list())
    tokens = Scan(TEXTS).words_and_pairs()
    found = Tfidf.fit([tokens], texts=6, most=100).weights(tokens, texts=6)
    assert found.shape == expected.shape
    products = (expected @ expected.T).toarray()
    np.testing.assert_allclose((found @ found.T).toarray(), products, atol=1e-6)


def test_only_the_commonest_tokens_are_known():
    tokens = Scan(TEXTS).words_and_pairs()
    assert len(Tfidf.fit([tokens], texts=6, most=2).lexicon) == 2
