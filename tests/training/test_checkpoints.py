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


@pytest.mark.slow
def test_kill_minus_nine_and_resume_on_the_command_line(small_sample, tmp_path):
    source = tmp_path / "messages.parquet"
    small_sample.write_parquet(source)
    command = [
        sys.executable, "-m", "eventide", "train", str(source), "--out", str(tmp_path / "killed"),
        "--encoder", "tfidf-svd:16", "--set", "training.epochs=400",
        "--set", "training.batch_size=64", "--checkpoint-every", "1",
    ]  # fmt: skip
    checkpoint = tmp_path / "killed.checkpoint" / "manifest.json"
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    assert checkpoint.exists()
    assert not (tmp_path / "killed").exists()

