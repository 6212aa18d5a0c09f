"""A corpus is what its arrays say, or an error."""

import numpy as np
import pytest

from eventide.corpus.corpus import Corpus, Featuriser
from eventide.corpus.messages import read_messages
from eventide.features.encoders import encoder
from eventide.graphs.settings import GraphSettings
from eventide.graphs.views import PAPER_VIEWS

SALT = b"salt of the tests"


@pytest.fixture(scope="module")
def prepared(small_sample):
    frame = read_messages(small_sample.head(40), entities="rules").messages
    featuriser = Featuriser(encoder("tfidf-svd:8").fit(frame), PAPER_VIEWS, GraphSettings(), SALT)
    return frame, featuriser


def test_given_keys_are_the_keys_of_the_corpus(prepared):
    frame, featuriser = prepared
    plain, keys = featuriser.prepare(frame), featuriser.keys(frame)
    given = featuriser.prepare(frame, keys)
    assert given.ids is keys.ids
    for name, array in plain.state().items():
        np.testing.assert_array_equal(given.state()[name], array)
    some = keys.take(np.array([3, 1]))
    assert some.texts.tolist() == plain.texts[[3, 1]].tolist()


CHANGES = {
    "a time less": lambda s: s.update(times=s["times"][1:]),
    "an id less": lambda s: s.update(ids=s["ids"][1:]),
    "flat features": lambda s: s.update(features=s["features"].ravel()),
    "a message less in a view": lambda s: s.update(
        {"view.user.pointers": s["view.user.pointers"][:-1]}
    ),
    "elements without a message": lambda s: s.update(
        {"view.entity.elements": np.append(s["view.entity.elements"], 0)}
    ),
    "an element without a key": lambda s: s.update(
        {"view.hashtag.keys": s["view.hashtag.keys"][:-1]}
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_arrays_that_do_not_fit_together_are_refused(prepared, change):
    frame, featuriser = prepared
    state = featuriser.prepare(frame).state()
    assert len(Corpus.from_state(state, PAPER_VIEWS)) == 40
    change(state)
    with pytest.raises(ValueError, match=r"the (arrays|elements) of the"):
        Corpus.from_state(state, PAPER_VIEWS)
