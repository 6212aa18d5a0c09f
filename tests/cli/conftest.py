"""A small model and its messages, trained once for all tests of the verbs."""

import polars as pl
import pytest
from typer.testing import CliRunner

from eventide.cli.main import app
from eventide.model import EventClassifier

ESCAPES = "\x1b[31m\x9b2J\u202e\u200b\x07"
"""What a message may hold to play with the terminal of whoever looks at it."""


@pytest.fixture(scope="session")
def trained(small_sample, tmp_path_factory):
    """A folder with messages.parquet, new.jsonl, and a model with the text it was trained on."""
    folder = tmp_path_factory.mktemp("trained")
    small_sample.write_parquet(folder / "messages.parquet")
    new = small_sample.filter(pl.col("split") == "test").with_columns(id=pl.col("id") + "-new")
    new.select("id", "text", "created_at", "user", "event").write_ndjson(folder / "new.jsonl")
    model = EventClassifier(encoder="tfidf-svd:16", training__epochs=2, training__batch_size=64)
    model.fit(small_sample).save(folder / "model", keep_text=True)
    return folder


@pytest.fixture(scope="session")
def hostile(small_sample, tmp_path_factory):
    """The same, with escape codes in ids, texts, authors and names of events."""
    folder = tmp_path_factory.mktemp("hostile")
    names = ("id", "text", "event", "user")
    messages = small_sample.with_columns(pl.col(name) + ESCAPES for name in names)
    messages.write_parquet(folder / "messages.parquet")
    model = EventClassifier(encoder="tfidf-svd:16", training__epochs=1, training__batch_size=64)
    model.fit(messages).save(folder / "model", keep_text=True)
    return folder


@pytest.fixture
def invoke():
    """Run a verb in this process, at a width of 80 columns unless told otherwise."""

    def run(*words, width=80, **more):
        return CliRunner().invoke(
            app, [str(word) for word in words], env={"COLUMNS": str(width)}, **more
        )

    return run
