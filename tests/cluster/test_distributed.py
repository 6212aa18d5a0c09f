"""Workers under torchrun: one is killed, the run goes on from its checkpoint to the same model."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from eventide import EventClassifier, load
from eventide.cluster.distributed import launch_torchrun, run_folder
from eventide.cluster.train_worker import TrainingRequest, check_method, train_worker
from eventide.data import read
from eventide.errors import BadSetting

EPOCHS = 15
"""So many that the training is not over when the second epoch is seen."""


@pytest.fixture
def asked(archive):
    return json.loads((archive / "parameters.json").read_text()) | {"training__epochs": EPOCHS}


def workers():
    """List the processes that the launcher has started here."""
    ours = f"PPid:\t{os.getpid()}\n"
    found = [each.parent for each in Path("/proc").glob("[0-9]*/status") if ours in read_text(each)]
    return [
        int(each.name) for each in found if train_worker.__module__ in read_text(each / "cmdline")
    ]


def read_text(path):
    try:
        return path.read_text()
    except OSError:  # it has ended meanwhile
        return ""


def test_a_killed_worker_does_not_end_the_training(
    archive, asked, small_sample, tmp_path, same_opinions
):
    rows, killed = [], []

    def watch(row):
        rows.append(int(row["epoch"]))
        if row["epoch"] == 2 and not killed:
            killed.extend(workers()[:1])
            os.kill(killed[0], signal.SIGKILL)

    with run_folder(tmp_path / "model", read(archive / "labelled.parquet")) as folder:
        request = TrainingRequest(
            str(folder), asked, str(tmp_path / "model"), str(tmp_path / "checkpoint"), 1
        )
        answer = signal.getsignal(signal.SIGTERM)
        launch_torchrun(request, 2, watch)
        assert signal.getsignal(signal.SIGTERM) is answer
    assert killed
    assert set(rows) == set(range(1, EPOCHS + 1))
    assert not folder.exists()
    here, there = EventClassifier(**asked).fit(small_sample), load(tmp_path / "model")
    assert [row["epoch"] for row in there.history_] == list(range(1, EPOCHS + 1))
    for name, expected in here.method_.state().items():
        np.testing.assert_allclose(there.method_.state()[name], expected, atol=1e-5, err_msg=name)
    new = read(archive / "in" / "new-00.jsonl")
    same_opinions(there.opinions(new), here.opinions(new))


def test_one_worker_trains_directly(asked, small_sample, tmp_path):
    request = TrainingRequest(str(tmp_path), asked, str(tmp_path / "model"), None)
    train_worker(request, read(small_sample))
    here, there = EventClassifier(**asked).fit(small_sample), load(tmp_path / "model")
    for name, expected in here.method_.state().items():
        np.testing.assert_array_equal(there.method_.state()[name], expected, err_msg=name)


@pytest.mark.parametrize("method", ["lr-encoder", "bert", "kpgnn"])
def test_methods_outside_the_frame_are_refused(method):
    with pytest.raises(BadSetting, match=f"cannot train {method} together"):
        check_method(method)
