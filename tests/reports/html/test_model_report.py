"""What a report says: of labelled messages, of unlabelled ones, and of the model alone."""

import json
import re

import numpy as np
import polars as pl
import pytest

from eventide.errors import BadSetting, InputError, OutputError
from eventide.model import EventClassifier
from eventide.reports.html.class_rows import class_rows
from eventide.reports.html.model_report import model_report
from eventide.reports.html.subject import subject_of


def charts_of(html):
    return json.loads(re.search(r'id="chart-data">(.*?)</script>', html, re.S)[1])


def titles_of(html):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", html)


def fresh_of(messages):
    new = messages.filter(pl.col("split") == "test").with_columns(id=pl.col("id") + "-new")
    return new.drop("event", "split")


def test_a_labelled_file_measures_the_model(model, small_sample):
    html = model_report(model, small_sample, name="messages.csv").html()
    assert "Events in messages.csv" in html
    charts = charts_of(html)
    assert set(charts) == {"confusion", "reliability", "risk", "volume", "timeline", "map"}
    said = model.evaluate(small_sample)
    assert f"{said.accuracy:.1%}" in html
    counted = sum(int(cell[3]) for cell in charts["confusion"]["cells"])
    assert counted == said.messages
    assert f"{said.messages} test messages" in html
    assert titles_of(html)[:2] == ["What to check first", "Events"]
    rows = {each.event: each for each in class_rows(subject_of(model, small_sample))}
    for event in said.events:
        own = rows[event.event]
        assert (own.messages, own.recall) == (event.messages, pytest.approx(event.recall))
        assert own.doubt == pytest.approx(event.doubt)
        assert own.words
        assert len(own.examples) == 3


def test_unlabelled_messages_are_reported_on(model, small_sample):
    fresh = fresh_of(small_sample)
    html = model_report(model, fresh, name="new.jsonl").html()
    assert set(charts_of(html)) == {"volume", "timeline", "map"}
    assert "Most telling messages" in titles_of(html)
    assert "accuracy" not in html.partition("<main")[0].partition("<header")[2].lower()
    volumes = charts_of(html)["volume"]["series"]
    assert sum(sum(each["values"]) for each in volumes) == len(fresh)
    counts = dict(model.opinions(fresh)["event"].value_counts().rows())
    assert {each["name"]: sum(each["values"]) for each in volumes} == counts


def test_a_model_alone_has_its_validation_messages(model):
    html = model_report(model).html()
    assert f"{len(model.validation_)} validation messages" in html
    assert "flatter" in html
    assert set(charts_of(html)) >= {"confusion", "reliability", "risk", "map"}


def test_a_model_without_text_shows_none(model, small_sample, tmp_path):
    import eventide

    loaded = eventide.load(model.save(tmp_path / "model"))
    html = model_report(loaded).html()
    text = max(small_sample["text"].to_list(), key=len)[:40]
    assert text not in html
    assert "It holds no text of any message" in html
    assert "Keywords" not in html
    kept = model_report(model, small_sample, with_text=False).html()
    assert "It holds no text of any message" in kept
    ids = small_sample["id"].to_list()
    assert not any(each in kept for each in ids[:50])


def test_the_threshold_is_the_models_own(model, small_sample):
    asked = model.thresholds(0.9).asked
    html = model_report(model, small_sample, accuracy=0.9).html()
    if asked.reached:
        assert f"doubt {asked.threshold:.2g}" in html
    with pytest.raises(BadSetting, match="accuracy"):
        model_report(model, small_sample, accuracy=2.0)


def test_labels_the_model_does_not_know_and_no_times(model, small_sample):
    strange = small_sample.filter(pl.col("split") == "test").with_columns(
        event=pl.lit("a new <event>"), id=pl.col("id") + "-strange", created_at=None
    )
    subject = subject_of(model, strange)
    assert subject.days is None
    row = next(each for each in class_rows(subject) if not each.known)
    assert (row.event, row.recall, row.messages) == ("a new <event>", 0.0, len(strange))
    html = model_report(model, strange).html()
    assert "Teach the model 1 more event." in html
    assert "a new &lt;event&gt;" in html
    assert "volume" not in charts_of(html)


def test_all_trained_on_measures_nothing(model, small_sample):
    taught = small_sample.filter(pl.col("split") == "train").drop("split")
    html = model_report(model, taught).html()
    assert "were trained on" in html
    assert "confusion" not in charts_of(html)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_few_messages(model, small_sample, count):
    html = model_report(model, fresh_of(small_sample).head(count)).html()
    assert ("map" in charts_of(html)) == (count > 3)
    assert f"{count} message" in html


def test_no_message_is_an_error(model, small_sample):
    with pytest.raises(InputError, match="no rows"):
        model_report(model, small_sample.head(0))


def test_a_method_without_network(small_sample):
    plain = EventClassifier(method="lr-tfidf").fit(small_sample)
    assert "map" in charts_of(model_report(plain, small_sample).html())


def test_the_same_messages_give_the_same_map(model, small_sample):
    first, second = (charts_of(model_report(model, small_sample).html())["map"] for _ in range(2))
    assert first == second
    doubts = np.array([point[3] for point in first["points"]])
    assert ((doubts >= 0) & (doubts <= 1)).all()


def test_a_page_is_replaced_only_if_asked(model, tmp_path):
    page = model.report(title="Mine & <ours>")
    path = page.save(tmp_path / "report.html")
    assert "<title>Mine &amp; &lt;ours&gt;</title>" in path.read_text()
    with pytest.raises(OutputError, match="a file already"):
        page.save(path)
    assert page.save(path, overwrite=True) == path
    with pytest.raises(OutputError, match=r"\.html"):
        page.save(tmp_path / "report.pdf")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
