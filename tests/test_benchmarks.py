"""Benchmarks keep up with the code: what they import is there, and their calls run on very little.

Their figures mean nothing here; ``python benchmarks/NAME.py`` measures.
"""

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from eventide import EventClassifier
from eventide.cli.main import app
from eventide.runtime import own_process

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
EXTRAS = ("fastapi", "httpx", "uvicorn", "ray", "psycopg", "sqlalchemy")
"""Packages that may be missing: their benchmarks cannot run here, and need not."""


@pytest.fixture(autouse=True)
def benchmarks_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def benchmark(name):
    """Import a benchmark, or skip the test where a package that it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in EXTRAS:
            raise
        pytest.skip(f"{missing.name} is not installed")


def figures(capsys):
    """Return what ``apart.report`` printed last."""
    return json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCHMARKS.glob("*.py")))
def test_what_a_benchmark_imports_is_there(name):
    assert benchmark(name).__doc__


def test_a_step_is_measured_and_every_variant_has_the_same_loss(capsys, monkeypatch):
    monkeypatch.setattr(own_process, "_library", None)  # a benchmark's process is ours, this is not
    training, losses = benchmark("training"), []
    for variant in training.CONTESTANTS:
        training.one_step(variant, messages=300, repeats=1, steps=1)
        found = figures(capsys)
        assert found["cpu"] > 0
        losses.append(found["first_loss"])
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-4)


def test_graphs_are_measured(capsys):
    neighbourhoods = benchmark("neighbourhoods")
    for variant in neighbourhoods.CONTESTANTS:
        neighbourhoods.compete(variant, messages=200, width=4, repeats=1)
        assert figures(capsys)["edges"] > 0
    benchmark("batches").measure(200, batch=20, width=4)
    assert figures(capsys)["planning"] > 0
    growth = benchmark("growth")
    for series in ("trending", "one hashtag, forward only"):
        growth.measure(series, 200, width=4)
        assert figures(capsys)["messages"] == 200


def test_lookups_are_measured(capsys, monkeypatch):
    lookups = benchmark("lookups")
    monkeypatch.setattr(lookups, "FEW", (1, 2))
    known, new = lookups.generate(200), lookups.generate(50, seed=1)
    with torch.no_grad():
        lookups.measure("user", known, new, 4)
    assert "memory of 200" in capsys.readouterr().out


def test_reading_is_measured(tmp_path):
    reading = benchmark("reading")
    reading.write(tmp_path / "spoilt.jsonl", 64, every=8)
    found = reading.measure("eventide", tmp_path / "spoilt.jsonl")
    assert found["rows"] == 64
    assert 0 < found["rejected"] <= 8
    reading.write(tmp_path / "clean.jsonl", 20, every=None)
    assert reading.measure("polars", tmp_path / "clean.jsonl")["rows"] == 20


def test_checking_is_measured(tmp_path):
    checking = benchmark("checking")
    checking.new_messages(50).write_ndjson(tmp_path / "new.jsonl")
    spent = checking.stages(tmp_path / "new.jsonl")
    assert {"reading", "elements", "edges", "repeated texts"} <= set(spent)


def test_assigning_is_measured(small_sample, tmp_path, capsys, monkeypatch):
    """The command itself runs too, in this process: another one would take seconds to begin."""
    assigning = benchmark("assigning")
    options = {"encoder": "tfidf-svd:8", "training__epochs": 1, "network__layers": [8, 8]}
    model = EventClassifier(**options).fit(small_sample)
    model.save(tmp_path / "model")
    commands = []

    def here(command):
        commands.append(command)
        done = CliRunner().invoke(app, command[3:])
        assert done.exit_code == 0, done.output
        return assigning.Watched(1.0, 1.0, 2.0, 2.0)

    monkeypatch.setattr(assigning, "watched", here)
    messages = assigning.new_messages(30)
    assigning.show_end_to_end(tmp_path / "model", messages, tmp_path)
    assert len(commands) == 3
    assert "30 over 3 messages: 1.00 in all processes" in capsys.readouterr().out
    assert len(assigning.one_at_a_time(model, messages)) == 30 - assigning.WARM_UP


def test_memory_of_a_program_is_watched():
    found = benchmark("apart").watched([sys.executable, "-c", "x = 'a' * 10**8"], every=0.01)
    assert found.together >= found.largest > 0
    assert found.wall > 0


def test_starts_of_a_stream_are_joined_by_day():
    streams = benchmark("streams")
    day = streams.StreamDay("2013-01-01", 2, 1, 1, 1, 0, 1, 0, 1, 0.5)
    later = replace(day, day="2013-01-02", right=2, found_new=1)
    group = streams.EventGrouping(3, 0.7, 0.95)
    one = streams.StreamResult(
        "ce", [day, later], {"flood": 1}, [True, False, True, True], {"flood": group}, 0.9
    )
    other = streams.StreamResult("ce", [later], {"fire": None}, [True, True], {}, None)
    assert streams.restored(json.loads(json.dumps(streams.plain(one)))) == one
    both = streams.together([one, other])
    assert [(each.day, each.messages, each.right, each.seconds) for each in both.days] == [
        ("2013-01-01", 2, 1, 0.5),
        ("2013-01-02", 4, 4, 0.5),
    ]
    assert both.right == [True, False, True, True, True, True]
    assert both.delays == {"0 flood": 1, "1 fire": None}
    assert both.groups == {"0 flood": group}
    assert both.purity == 0.9
