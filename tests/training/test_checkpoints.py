"""A run that is killed and resumed ends in the very same weights."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from eventide.classifier import EventClassifier
from eventide.errors import DamagedBundle

SETTINGS = {
    "training__epochs": 6,
    "training__batch_size": 64,
    "training__schedule": "cosine",
    "training__weight_average": 0.7,
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


def test_without_resume_a_run_starts_afresh(small_sample, tmp_path):
    with pytest.raises(Killed):
        EventClassifier(**SETTINGS).fit(
            small_sample, watch=killed_after(2), checkpoints=tmp_path / "c"
        )
    fresh = EventClassifier(**SETTINGS).fit(small_sample, checkpoints=tmp_path / "c")
    assert len(fresh.history_) == 6


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
