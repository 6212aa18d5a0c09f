"""The verbs of new events and of a model that keeps learning, as people use them."""

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

import eventide
from eventide.errors import InputError, OutputError
from processes import LONG


@pytest.fixture(scope="module")
def stream(trained, tmp_path_factory, small_sample):
    """A folder with a model, labelled messages of an event that it does not know, and others."""
    folder = tmp_path_factory.mktemp("stream")
    fresh = small_sample.filter(pl.col("split") == "test").with_columns(id=pl.col("id") + "-later")
    fresh.drop("event", "split").write_ndjson(folder / "unlabelled.jsonl")
    labelled = fresh.head(12).with_columns(event=pl.lit("a new event"))
    labelled.drop("split").write_ndjson(folder / "labelled.jsonl")
    return folder


def test_update_remembers_learns_and_says_so(trained, stream, invoke, tmp_path):
    done = invoke("update", trained / "model", stream / "unlabelled.jsonl", "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    assert "messages remembered" in done.output
    words = ("update", tmp_path / "a", stream / "labelled.jsonl", "--out", tmp_path / "b")
    done = invoke(*words, "--steps", 1, "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["new_events"] == ["a new event"]
    assert report["remembered"] == 0  # they were remembered before
    assert "a new event" in eventide.load(tmp_path / "b").classes_
    assert all(len(line) <= 80 for line in done.stderr.splitlines())


def test_update_learns_what_was_dismissed(trained, stream, invoke, tmp_path):
    words = ("update", trained / "model", "--off-topic", stream / "unlabelled.jsonl")
    done = invoke(*words, "--out", tmp_path / "taught")
    assert done.exit_code == 0, done.output
    assert "learned as off-topic" in done.output
    assert eventide.load(tmp_path / "taught").novelty_.off_topic is not None


def test_update_refuses_what_cannot_be_done(trained, stream, invoke, tmp_path):
    model = trained / "model"
    assert isinstance(invoke("update", model, "--out", tmp_path / "x").exception, InputError)
    done = invoke("update", model, stream / "labelled.jsonl", "--out", model)
    assert isinstance(done.exception, OutputError)  # there is a model already


def test_kill_minus_nine_in_an_update_leaves_the_old_or_the_new_model(trained, stream, tmp_path):
    """Whenever it is killed, the model loads; killed late enough, it is the new one."""
    model = tmp_path / "model"
    eventide.load(trained / "model").save(model)
    old = len(eventide.load(model).memory_)
    words = [sys.executable, "-m", "eventide", "update", str(model)]
    words += [str(stream / "unlabelled.jsonl"), "--out", str(model), "--overwrite"]
    started = time.monotonic()
    subprocess.run(words, check=True, capture_output=True, timeout=LONG)
    took = time.monotonic() - started
    new = len(eventide.load(model).memory_)
    assert new > old
    eventide.load(trained / "model").save(model, overwrite=True)
    for share in (0.7, 0.9, 0.97):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(took * share)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert len(eventide.load(model).memory_) in (old, new)
    subprocess.run(words, check=True, capture_output=True, timeout=LONG)  # nothing is left locked
    assert len(eventide.load(model).memory_) == new
