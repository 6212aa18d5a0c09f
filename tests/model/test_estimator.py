"""Row 26: scikit-learn takes the classifier for one of its own, though it inherits nothing of it."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

from eventide.model import EventClassifier

QUICK = {"method": "lr-encoder", "encoder": "tfidf-svd:16"}


def test_it_is_a_classifier_of_messages():
    model = EventClassifier()
    assert is_classifier(model)
    tags = get_tags(model)
    assert tags.estimator_type == "classifier"
    assert not tags.input_tags.two_d_array
    assert not tags.target_tags.required
    assert is_classifier(make_pipeline(FunctionTransformer(), model))


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        (EventClassifier(), "EventClassifier()"),
        (
            EventClassifier("ucl", training__epochs=3, views={"tags": "hashtags"}),
            "EventClassifier(method='ucl', views={'tags': 'hashtags'}, training__epochs=3)",
        ),
    ],
)
def test_it_shows_what_was_changed(model, shown):
    assert repr(model) == shown
    assert repr(clone(model)) == shown
    assert repr(pickle.loads(pickle.dumps(model))) == shown
    assert shown in repr(make_pipeline(model))


def test_notebooks_show_a_diagram(small_sample):
    model = EventClassifier(**QUICK)
    for each in (model, model.fit(small_sample)):
        assert "<div" in each._repr_html_()
        assert "tfidf-svd:16" in each._repr_html_()
    assert "EventClassifier" in make_pipeline(FunctionTransformer(), model)._repr_html_()


def test_sample_weights_are_routed_to_score_where_asked_for(small_sample):
    frame = small_sample.drop("split", "event").to_pandas()
    y = small_sample["event"].to_numpy()
    weights = np.linspace(0.0, 1.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = EventClassifier(**QUICK)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, frame, y, cv=2, params={"sample_weight": weights})
        scores = {
            asked: cross_validate(
                clone(model).set_score_request(sample_weight=asked),
                frame, y, cv=2, params={"sample_weight": weights} if asked else {},
            )["test_score"]
            for asked in (True, False)
        }  # fmt: skip
        assert scores[True].tolist() != scores[False].tolist()
        twin = clone(model.set_score_request(sample_weight="w"))
        assert twin.get_metadata_routing().score.requests == {"sample_weight": "w"}
