"""Row 27: encoder= takes an object that keeps the protocol, or a function of texts."""

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.base import clone

import eventide
from eventide.errors import BadSetting, UnreadableSource
from eventide.features.encoders import State, encoder, encoder_name
from eventide.features.encoders.text_encoder import TextEncoder
from eventide.features.encoders.tfidf_svd import TfidfSvd
from eventide.model import EventClassifier

TEXTS = ["flood in the valley", "fire at the mill", "\N{FIRE}", "roads closed"]


@pytest.fixture
def messages():
    return pl.DataFrame({"id": list("abcd"), "text": TEXTS})


def letters(texts):
    return [[text.count(letter) for letter in "aeiou"] for text in texts]


def other(texts):
    return [[text.count(letter) for letter in "bcdfg"] for text in texts]


class Fixed(TextEncoder):
    """An encoder that no registry knows."""

    width = 5

    def __init__(self):
        super().__init__("fixed")

    def vectors(self, texts):
        return np.array(letters(texts), dtype=np.float32)


@pytest.mark.parametrize(
    "function",
    [
        letters,
        lambda texts: np.array(letters(texts), dtype=np.float64),
        lambda texts: torch.tensor(letters(texts), dtype=torch.float32, requires_grad=True),
    ],
    ids=["lists", "float64", "torch"],
)
def test_a_function_becomes_an_encoder(function, messages):
    found = encoder(function).fit(messages)
    vectors = found.encode(messages)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors[[0, 1, 3]], letters([TEXTS[row] for row in (0, 1, 3)]))
    assert not vectors[2].any()  # text without a letter has no vector, as everywhere
    assert found.width == 5


def fails(texts):
    raise KeyError("no such word")


BAD = {
    "fails": (fails, "failed: KeyError"),
    "one row": (lambda texts: [[1.0, 2.0]], r"shape \(1, 2\) for"),
    "flat": (lambda texts: [1.0] * len(texts), "shape"),
    "nothing": (lambda texts: None, "for 4 texts"),
    "words": (lambda texts: [["a"]] * len(texts), "for 4 texts"),
    "random": (lambda texts: np.random.default_rng().random((len(texts), 3)), "another vector"),
    "centred": (lambda texts: np.array(letters(texts)) - np.mean(letters(texts)), "another vector"),
}


@pytest.mark.parametrize(("function", "says"), BAD.values(), ids=BAD)
def test_what_a_function_must_not_do(function, says, messages):
    with pytest.raises(BadSetting, match=says):
        encoder(function).fit(messages)


def test_numbers_that_are_not_finite_name_the_message(messages):
    found = encoder(lambda texts: [[np.nan if "mill" in text else 1.0] for text in texts])
    with pytest.raises(UnreadableSource, match="message b"):
        found.fit(messages).encode(messages)


@pytest.mark.parametrize("given", [3, None, ["wordllama"], TfidfSvd, object()])
def test_what_is_no_encoder_is_a_bad_setting(given):
    with pytest.raises(BadSetting, match="encoder"):
        EventClassifier(encoder=given).settings()


def test_a_half_encoder_is_told_to_give_its_method():
    class Sentences:
        def encode(self, texts):
            return letters(texts)

    with pytest.raises(BadSetting, match="its method encode"):
        encoder(Sentences())
    assert encoder_name(Sentences().encode).startswith("python:")


def test_an_object_is_copied_before_it_is_fitted(messages):
    given = TfidfSvd("2")
    encoder(given).fit(messages)
    assert given._fitted is None
    assert encoder_name(given) == "tfidf-svd:2"
    assert encoder_name(Fixed()) == "python:fixed"


def test_a_restored_function_must_be_the_same(messages):
    arrays, facts = encoder(letters).fit(messages).state()
    assert encoder(letters).restore(State(arrays, facts)).width == 5
    for wrong in (other, lambda texts: np.ones((len(texts), 3))):
        with pytest.raises(UnreadableSource, match="another function"):
            encoder(wrong).restore(State(arrays, facts))


@pytest.mark.parametrize(
    "given", [letters, Fixed(), TfidfSvd("4")], ids=["function", "own", "ours"]
)
def test_a_model_with_such_an_encoder_is_saved_and_handed_it_back(given, small_sample, tmp_path):
    model = EventClassifier(method="lr-encoder", encoder=given).fit(small_sample)
    assert clone(model).get_params()["encoder"] is not None
    path = model.save(tmp_path / "model")
    loaded = eventide.load(path, encoder=given)
    np.testing.assert_array_equal(
        loaded.predict_proba(small_sample, as_new=True),
        model.predict_proba(small_sample, as_new=True),
    )
    assert isinstance(model.evaluate(small_sample).encoder, str)
    if isinstance(given, TfidfSvd):
        assert eventide.load(path).encoder == "tfidf-svd:4"
        return
    with pytest.raises(BadSetting, match=r"given in Python.*\n.*eventide.load\(path, encoder="):
        eventide.load(path)
