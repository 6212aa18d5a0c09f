"""Figures of a model that is trained already: measured by it, without training."""

import numpy as np
import polars as pl
import pytest

from eventide.errors import BadSetting, InputError
from eventide.model import EventClassifier
from eventide.reports.figures import FIGURES
from eventide.reports.figures.model_runs import ModelRuns
from eventide.reports.figures.recipe import model_figure

OF_MODELS = [name for name, each in FIGURES.working().items() if each.model]


@pytest.fixture(scope="module")
def model(small_sample):
    return EventClassifier(encoder="tfidf-svd:16", training__epochs=2).fit(small_sample)


@pytest.mark.parametrize("name", OF_MODELS)
def test_every_figure_of_a_model_draws(model, small_sample, name, monkeypatch):
    monkeypatch.setattr("eventide.reports.figures.tsne.ITERATIONS", 250)
    monkeypatch.setattr(EventClassifier, "fit", None)
    for messages in (None, small_sample):
        made = model_figure(name, model, messages, data="mine")
        made.figure.canvas.draw()
        assert made.values.lines()
        assert made.as_dict()["figure"] == name
        assert ("validation" in made.note) == (messages is None)


def test_they_show_the_models_own_numbers(model, small_sample):
    said = model.evaluate(small_sample)
    values = model_figure("right-wrong", model, small_sample).values
    (own,) = values.methods
    assert len(own.right) + len(own.wrong) == said.messages
    assert len(own.right) / said.messages == pytest.approx(said.accuracy)
    assert own.auroc == pytest.approx(said.error_auroc)
    sizes = model_figure("class-sizes", model, small_sample).values
    assert sum(sizes.train) == (small_sample["split"] == "train").sum()
    assert sum(sizes.test) == said.messages
    inside = model_figure("right-wrong", model).values.methods[0]
    assert len(inside.wrong) == (~model.validation_.right).sum()


def test_known_and_new_messages_embed_as_they_are_predicted(model, small_sample):
    runs = ModelRuns.of_model(model, small_sample)
    run = runs.fitted(runs.methods[0])
    assert run.class_counts.sum() == (small_sample["split"] == "train").sum()
    unit = run.embeddings("test", runs.view)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-5)
    with pytest.raises(BadSetting, match="no view"):
        run.embeddings("test", "weather")


def test_what_cannot_be_shown_says_what_can(model, small_sample):
    with pytest.raises(BadSetting, match="shows how training goes") as refused:
        model_figure("drift", model)
    assert "right-wrong" in str(refused.value)
    with pytest.raises(InputError, match="has an event"):
        model_figure("tsne", model, small_sample.with_columns(event=pl.lit(None, pl.String)))
    with pytest.raises(BadSetting, match="another view"):
        model_figure("groups", model, view="user")
    plain = EventClassifier(encoder="tfidf-svd:8", training__epochs=1, protocol="inductive").fit(
        small_sample
    )
    with pytest.raises(InputError, match="no validation messages"):
        model_figure("right-wrong", plain)
