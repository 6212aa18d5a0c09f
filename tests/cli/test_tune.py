"""``eventide tune``, and what ``eventide methods --tuned`` shows of its result."""

import json

import pytest

from eventide.errors import OutputError, UnknownName
from eventide.experiments.tuning import TRIALS


@pytest.fixture
def messages(small_sample, tmp_path):
    path = tmp_path / "messages.parquet"
    small_sample.drop("split").write_parquet(path)
    return path


def test_tune_writes_the_settings_and_says_what_it_chose(messages, tmp_path, invoke):
    out = tmp_path / "tuned.json"
    words = ["tune", messages, "--methods", "lr-encoder,nearest-in-time", "--out", out]
    words += ["--runs", tmp_path / "runs", "--workers", 1]
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    record = json.loads(out.read_text())
    assert len(record["methods"]["lr-encoder"]["trials"]) == TRIALS
    assert "lr-encoder: NLL" in done.output
    assert "nearest-in-time: no trials" in done.output
    assert isinstance(invoke(*words).exception, OutputError)


def test_a_method_that_does_not_exist_is_named(messages, tmp_path, invoke):
    done = invoke("tune", messages, "--methods", "lr-encodr", "--out", tmp_path / "tuned.json")
    assert isinstance(done.exception, UnknownName)
    assert "did you mean 'lr-encoder'" in str(done.exception)


def test_methods_shows_what_was_chosen(invoke):
    done = invoke("methods", "--tuned", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert "to" in rows["ce"]["nll"]
    assert rows["ce-ensemble"]["chosen"] == rows["ce"]["chosen"]
    assert rows["nearest-in-time"]["chosen"] == "no trials: nothing to set"
