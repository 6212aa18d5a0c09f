"""The verb ``thresholds``, and the options of ``assign`` that use it."""

import json
import re
import shlex

import polars as pl
import pytest


@pytest.fixture
def thresholds(invoke, trained):
    return lambda *words, **more: invoke("thresholds", trained / "model", *words, **more)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_sentence_a_table_and_a_command(thresholds, trained, width):
    done = thresholds(trained / "new.jsonl", "--accuracy", 0.95, width=width)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert re.match(r"keep \d+%, \d+\.\d% right; \d+ of \d+ messages to look at$", lines[0])
    table = lines[2:10]
    assert max(map(len, table)) <= width
    assert sum(line.lstrip().startswith(("8", "9")) for line in table) == 6


def test_the_printed_command_reviews_as_many_as_was_said(thresholds, invoke, trained):
    done = thresholds(trained / "new.jsonl", "--accuracy", 0.98)
    line = next(each for each in done.output.splitlines() if "eventide assign" in each)
    words = shlex.split(line.partition("eventide ")[2])
    words[words.index("new.csv")] = trained / "new.jsonl"
    assigned = invoke(*words, "--json")
    said = json.loads(thresholds(trained / "new.jsonl", "--accuracy", 0.98, "--json").output)
    assert len(assigned.output.splitlines()) == said["asked"]["to_review"]
    reviewed = invoke("assign", trained / "model", trained / "new.jsonl", "--keep-accuracy", 0.98)
    own = json.loads(thresholds("--accuracy", 0.98, "--json").output)
    assert f"have a doubt of at least {own['asked']['threshold']:g}" in reviewed.output


def test_validation_predictions_are_the_default(thresholds):
    done = thresholds()
    assert done.exit_code == 0, done.output
    assert "75 validation messages" in done.output
    assert "chose the epoch" in done.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--accuracy", "1.5"), "accuracy of 1.5 is not possible"),
        (("missing.csv",), "missing.csv"),
    ],
)
def test_what_cannot_be_done_is_an_error_with_a_next_step(thresholds, words, says):
    done = thresholds(*words)
    assert done.exit_code != 0
    assert says in f"{done.output}{done.exception}"


def test_sets_are_a_column_and_shown_as_alternatives(invoke, trained, tmp_path):
    out = tmp_path / "sets.csv"
    arguments = ("assign", trained / "model", trained / "new.jsonl", "--coverage", 0.98)
    done = invoke(*arguments, "--out", out)
    assert done.exit_code == 0, done.output
    found = pl.read_csv(out)
    first = found["set"].str.split("|").list.first()
    assert first.equals(found["event"], check_names=False)
    assert done.output.splitlines()[1].split() == ["event", "doubt", "verdict", "or", "text"]
    both = invoke(*arguments, "--threshold", 0.5, "--keep-accuracy", 0.9)
    assert both.exit_code != 0
    assert "both choose the messages to review" in f"{both.output}{both.exception}"
