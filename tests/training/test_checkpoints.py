"""A run that is killed and resumed ends in the very same weights."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from eventide.errors import CannotWrite, DamagedBundle, OutputError
from eventide.model import EventClassifier
from eventide.outputs import reserved
from eventide.storage import read_bundle
from eventide.training.checkpoints import drop_checkpoints, has_checkpoint

SETTINGS = {
    "training__epochs": 6,
    "training__batch_size": 64,
    "training__schedule": "cosine",
    "training__ema_decay": 0.7,
    "network__dropout": 0.2,
    "encoder": "tfidf-svd:16",
}


class Killed(Exception):
    pass


def killed_after(epoch):
    def watch(row):
        if row["epoch"] == epoch:
            raise Killed

    return watch


@pytest.mark.parametrize("method", ["ucl", "ucl-ec"])
def test_a_resumed_run_ends_in_the_same_weights(small_sample, tmp_path, method):
    whole = EventClassifier(method=method, **SETTINGS).fit(small_sample)
    broken = EventClassifier(method=method, **SETTINGS)
    with pytest.raises(Killed):
        broken.fit(small_sample, watch=killed_after(4), checkpoints=tmp_path / "c")
    resumed = EventClassifier(method=method, **SETTINGS)
    resumed.fit(small_sample, checkpoints=tmp_path / "c", resume=True)
    expected, got = whole.method_.state(), resumed.method_.state()
    assert expected.keys() == got.keys()
    for name in expected:
        np.testing.assert_array_equal(expected[name], got[name], err_msg=name)
    without_clock = [{k: v for k, v in row.items() if k != "seconds"} for row in whole.history_]
    again = [{k: v for k, v in row.items() if k != "seconds"} for row in resumed.history_]
    assert without_clock == again


def test_a_checkpoint_of_other_settings_is_refused(small_sample, tmp_path):
    with pytest.raises(Killed):
        EventClassifier(**SETTINGS).fit(
            small_sample, watch=killed_after(2), checkpoints=tmp_path / "c"
        )
    other = EventClassifier(**(SETTINGS | {"training__learning_rate": 0.1}))
    with pytest.raises(DamagedBundle, match="settings differ"):
        other.fit(small_sample, checkpoints=tmp_path / "c", resume=True)


@pytest.fixture
def stopped(small_sample, tmp_path):
    """The checkpoint of a run that was stopped after its third epoch."""
    with pytest.raises(Killed):
        EventClassifier(**SETTINGS).fit(
            small_sample, watch=killed_after(3), checkpoints=tmp_path / "c"
        )
    assert has_checkpoint(tmp_path / "c")
    return tmp_path / "c"


def relabelled(messages):
    events = messages["event"].drop_nulls().unique(maintain_order=True)
    return messages.with_columns(event=pl.col("event").replace(events[0], events[1]))


def moved(messages):
    swapped = {"train": "val", "val": "train"}
    return messages.with_columns(split=pl.col("split").replace(swapped))


def rewritten(messages):
    return messages.with_columns(text=pl.col("text") + " indeed")


def later(messages):
    return messages.with_columns(created_at=pl.col("created_at") + pl.duration(days=1))


OTHER_RUNS = {
    "labels": (relabelled, {}),
    "splits": (moved, {}),
    "texts": (rewritten, {}),
    "times": (later, {}),
    "messages": (lambda messages: messages[1:], {}),
    "views": (None, {"views": {"tags": ["hashtags"]}}),
    "entities": (None, {"entities": "none"}),
    "encoder": (None, {"encoder": "tfidf-svd:8"}),
    "protocol": (None, {"protocol": "inductive"}),
    "seed": (None, {"seed": 1}),
    "method": (None, {"method": "ucl"}),
    "settings": (None, {"training__batch_size": 32}),
}


@pytest.mark.parametrize("part", OTHER_RUNS)
def test_row_6_a_checkpoint_of_another_run_is_refused_and_named(stopped, small_sample, part):
    """Failures 23 and 33: it went on with the old labels, or ended in a traceback."""
    change, settings = OTHER_RUNS[part]
    messages = small_sample if change is None else change(small_sample)
    with pytest.raises(DamagedBundle, match=rf"another run:.*\b{part}\b.* differ"):
        EventClassifier(**SETTINGS | settings).fit(messages, checkpoints=stopped, resume=True)
    assert has_checkpoint(stopped)


def test_row_6_vectors_are_part_of_a_run(small_sample, tmp_path):
    random = np.random.default_rng(0)
    vectors = random.normal(size=(len(small_sample), 4)).astype(np.float32)
    messages = small_sample.with_columns(vector=pl.Series(vectors.tolist()))
    settings = SETTINGS | {"encoder": "precomputed"}
    with pytest.raises(Killed):
        EventClassifier(**settings).fit(messages, watch=killed_after(2), checkpoints=tmp_path / "c")
    vectors[7, 2] += 1
    changed = messages.with_columns(vector=pl.Series(vectors.tolist()))
    with pytest.raises(DamagedBundle, match="another run: vectors differ"):
        EventClassifier(**settings).fit(changed, checkpoints=tmp_path / "c", resume=True)
    EventClassifier(**settings).fit(messages, checkpoints=tmp_path / "c", resume=True)


def test_row_6_a_salt_is_part_of_a_run(stopped, small_sample, tmp_path):
    with pytest.raises(DamagedBundle, match="another run: salt differ"):
        EventClassifier(**SETTINGS).fit(
            small_sample, checkpoints=stopped, resume=True, salt_file=tmp_path / "salt"
        )


def test_row_5_a_checkpoint_is_not_dropped_silently(stopped, small_sample):
    """Failure 48; it is told before anything is read."""
    before = (stopped / "phase-1" / "manifest.json").read_bytes()
    with pytest.raises(OutputError, match=r"--resume(.|\n)*--overwrite"):
        EventClassifier(**SETTINGS).fit("no-such-file.csv", checkpoints=stopped)
    assert (stopped / "phase-1" / "manifest.json").read_bytes() == before


def test_row_5_resuming_needs_a_checkpoint(small_sample, tmp_path):
    with pytest.raises(OutputError, match="no checkpoint to resume from"):
        EventClassifier(**SETTINGS).fit("no-such-file.csv", checkpoints=tmp_path / "c", resume=True)


def test_row_5_one_run_per_checkpoint(stopped, small_sample):
    with reserved(stopped), pytest.raises(OutputError, match="another process"):
        EventClassifier(**SETTINGS).fit(small_sample, checkpoints=stopped, resume=True)


@pytest.mark.parametrize("content", [b"", b"{}", None])
def test_a_damaged_checkpoint_is_not_skipped(stopped, small_sample, content):
    """Starting anew instead of resuming would lose the run without a word."""
    if content is None:
        (stopped / "phase-1" / "weights.safetensors").unlink()
    else:
        (stopped / "phase-1" / "manifest.json").write_bytes(content)
    with pytest.raises(DamagedBundle):
        EventClassifier(**SETTINGS).fit(small_sample, checkpoints=stopped, resume=True)
    drop_checkpoints(stopped)
    assert not stopped.exists()


def test_only_checkpoints_are_dropped(stopped):
    (stopped / "notes.txt").write_text("precious")
    drop_checkpoints(stopped)
    assert [each.name for each in stopped.iterdir()] == ["notes.txt"]


def test_a_checkpoint_that_cannot_be_written_stops_the_run_and_leaves_the_last(
    stopped, small_sample, monkeypatch
):
    """Failure 13."""
    from safetensors import SafetensorError

    def full(*_):
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("safetensors.numpy.save_file", full)
    with pytest.raises(CannotWrite, match="cannot write the checkpoint"):
        EventClassifier(**SETTINGS).fit(small_sample, checkpoints=stopped, resume=True)
    assert len(read_bundle(stopped / "phase-1", "checkpoint").facts["history"]) == 2
    with pytest.raises(CannotWrite):
        EventClassifier(**SETTINGS).fit(small_sample, checkpoints=stopped.with_name("new"))
    assert [each.name for each in stopped.parent.iterdir()] == ["c"]


def command(source, out, *more):
    return [
        sys.executable, "-m", "eventide", "train", str(source), "--out", str(out),
        "--encoder", "tfidf-svd:16", "--set", "training.epochs=40",
        "--set", "training.batch_size=64", "--checkpoint-every", "1", *more,
    ]  # fmt: skip


@pytest.mark.slow
def test_kill_minus_nine_then_resume_gives_the_same_model(small_sample, tmp_path):
    source = tmp_path / "messages.parquet"
    small_sample.write_parquet(source)
    subprocess.run(command(source, tmp_path / "whole"), check=True, capture_output=True)

    process = subprocess.Popen(command(source, tmp_path / "killed"), stdout=subprocess.DEVNULL)
    checkpoint = tmp_path / "killed.checkpoint" / "phase-1" / "manifest.json"
    deadline = time.monotonic() + 60
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()

    again = command(source, tmp_path / "killed", "--resume")
    subprocess.run(again, check=True, capture_output=True)
    names = ["weights.safetensors", "memory.safetensors"]
    for name in names:
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / "killed.checkpoint").exists()
