"""Weights of models that release 0.1 saved, under the names they had there."""

import numpy as np
import pytest

from eventide import EventClassifier
from eventide.methods.trained import LATER, RENAMED

OLD = {
    "ucl": "objective.total.prototypes.",
    "ucl-ec": "objective.total.prototypes.",
    "etgnn": None,
    "bcl": "objective.projectors.",
    "hybrid-psc": "objective.prototypes.",
}


def as_before(arrays, method, classes):
    """The same arrays with the names and the unused parts of release 0.1."""
    found = {}
    for name, value in arrays.items():
        for old, new in RENAMED.items():
            shared = old == OLD[method] or old == "objective.projectors."
            if name.startswith(new) and shared:
                name = old + name.removeprefix(new)
        found[name] = value
    if method == "etgnn":  # its prototypes were saved, though no term read them
        found["objective.total.prototypes.vectors.0"] = np.zeros((classes, 256), dtype=np.float32)
    return found


@pytest.mark.parametrize("method", OLD)
def test_weights_under_their_old_names_are_taken(small_sample, method):
    quick = {"training__epochs": 1, "training__batch_size": 150, "encoder": "tfidf-svd:8"}
    model = EventClassifier(method=method, **quick).fit(small_sample)
    trained, rows = model.method_, np.arange(20)
    old = as_before(trained.state(), method, len(model.classes_))
    assert set(old) != set(trained.state())
    again = type(trained)(trained.settings, trained.seed)
    again.restore(old, model.memory_)
    np.testing.assert_array_equal(again.predict(rows).belief, trained.predict(rows).belief)
    assert set(again.state()) == set(trained.state())


def test_a_bcl_of_before_its_messages_were_projected_predicts_the_same(small_sample):
    quick = {"training__epochs": 1, "training__batch_size": 150, "encoder": "tfidf-svd:8"}
    model = EventClassifier(method="bcl", **quick).fit(small_sample)
    trained, rows = model.method_, np.arange(20)
    old = {
        name: each
        for name, each in trained.state().items()
        if not name.removeprefix("objective.").startswith(LATER)
    }
    assert len(old) < len(trained.state())
    again = type(trained)(trained.settings, trained.seed)
    again.restore(old, model.memory_)
    np.testing.assert_array_equal(again.predict(rows).belief, trained.predict(rows).belief)


def test_a_weight_that_is_missing_is_not_passed_over(small_sample):
    model = EventClassifier(
        method="ucl", training__epochs=1, training__batch_size=150, encoder="tfidf-svd:8"
    ).fit(small_sample)
    trained = model.method_
    arrays = trained.state()
    del arrays["objective.terms.contrastive.loss.prototypes.vectors.0"]
    with pytest.raises(RuntimeError, match="Missing key"):
        type(trained)(trained.settings, trained.seed).restore(arrays, model.memory_)
