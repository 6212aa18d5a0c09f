"""What notebooks show."""

import polars as pl
import pytest
from matplotlib.figure import Figure

from eventide.model import EventClassifier
from eventide.model.notebook import OpinionFrame


@pytest.fixture(scope="module")
def model(small_sample):
    messages = small_sample.with_columns(event=pl.col("event") + "<b>")
    return EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(messages)


def test_a_fitted_model_shows_a_card(model):
    shown = model._repr_html_()
    assert "5 events" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>flood" not in shown.replace("&lt;", "")
    assert "tfidf-svd:8" in shown
    assert len(shown) < 20_000
    assert "<script" not in shown


def test_opinions_show_what_a_person_reads_first(model, small_sample):
    opinions = model.opinions(small_sample.head(25))
    assert isinstance(opinions, OpinionFrame)
    shown = opinions._repr_html_()
    assert "and 15 more" in shown
    assert "&lt;b&gt;" in shown
    assert f"{opinions['doubt'][0]:.2f}" in shown
    assert "dataframe" in opinions.select("id", "event")._repr_html_()
    assert OpinionFrame({"id": ["<i>"]})._repr_html_().count("<i>") == 0


def test_a_model_draws_its_figures(model, small_sample):
    drawn = model.figure("right-wrong", small_sample)
    assert isinstance(drawn, Figure)
    assert "validation messages" in model.figure("right-wrong")._suptitle.get_text()
    assert "test messages" in drawn._suptitle.get_text()
