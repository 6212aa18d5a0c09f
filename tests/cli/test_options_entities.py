"""``--entities none``, in every verb that takes ``--entities``."""

import inspect
import json

import pytest

import eventide
from eventide.cli.main import app

QUICK = ("--encoder", "tfidf-svd:16", "--set", "training.epochs=1", "--entities", "none")
RUNS = ("--split", "proportional", "--seeds", "1", "--workers", "1")


@pytest.fixture
def no_finding(monkeypatch):
    """The rules must not be asked at all."""

    def refused(*_):
        raise AssertionError("entities were looked for")

    monkeypatch.setattr("eventide.features.elements.fill.found_entities", refused)


def test_verbs_that_take_the_option():
    verbs = {command.name: command.callback for command in app.registered_commands}
    taking = {
        name for name, verb in verbs.items() if "entities" in inspect.signature(verb).parameters
    }
    assert taking == {"train", "compare", "claims", "tune"}


@pytest.mark.usefixtures("no_finding")
def test_train_and_assign(trained, tmp_path, invoke):
    model = tmp_path / "model"
    done = invoke("train", trained / "messages.parquet", "--out", model, *QUICK)
    assert done.exit_code == 0, done.output
    assert eventide.load(model).entities == "none"
    assigned = invoke("assign", model, trained / "new.jsonl", "--out", tmp_path / "opinions.csv")
    assert assigned.exit_code == 0, assigned.output


@pytest.mark.usefixtures("no_finding")
def test_compare_and_claims(trained, tmp_path, invoke):
    source, runs = trained / "messages.parquet", tmp_path / "runs"
    done = invoke("compare", source, "--out", runs, "--methods", "ucl", *RUNS, *QUICK)
    assert done.exit_code == 0, done.output
    record = json.loads((runs / "runs.jsonl").read_text().splitlines()[0])
    assert '"entities": "none"' in json.dumps(record)
    done = invoke("claims", source, "--runs", runs, "--only", "cost", *RUNS, *QUICK)
    assert done.exit_code == 0, done.output
