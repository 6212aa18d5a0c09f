"""``eventide train`` and ``forget``: nothing of the user's is lost, and errors come before the work."""

import json
import shlex
import signal
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

import eventide
from eventide.cli.main import app
from eventide.errors import CannotWrite, EventideError, OutputError
from eventide.outputs import reserved
from eventide.training.checkpoints import has_checkpoint
from processes import LONG, until

QUICK = [
    "--encoder", "tfidf-svd:16", "--set", "training.epochs=2", "--set", "training.batch_size=64",
]  # fmt: skip


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def train(source, out, *more):
    """Run the verb; an error made for people is raised."""
    done = invoke("train", source, "--out", out, *QUICK, *more)
    if isinstance(done.exception, EventideError):
        raise done.exception
    assert done.exit_code in (0, 130), done.output
    return done


def names(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture(scope="module")
def source(small_sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("messages") / "messages.parquet"
    small_sample.write_parquet(path)
    return path


@pytest.fixture
def no_reading(monkeypatch):
    """Nothing may be read: the error must come first."""
    from eventide.cli.reading import Reading

    monkeypatch.setattr(Reading, "read", lambda *_, **__: pytest.fail("something was read"))


@pytest.fixture
def stop(monkeypatch):
    """Have Ctrl-C pressed at the end of an epoch."""
    from eventide.cli import train as verb

    def pressed(epoch):
        from contextlib import contextmanager

        @contextmanager
        def watching(epochs):
            def watch(row):
                if row["epoch"] == epoch:
                    raise KeyboardInterrupt

            yield watch

        monkeypatch.setattr(verb, "watching", watching)

    yield pressed
    monkeypatch.undo()


def test_train_says_what_it_learned_and_leaves_no_litter(source, small_sample, tmp_path):
    """Row 23: labelled and unlabelled messages are told apart; validation and test rows are neither."""
    done = train(source, tmp_path / "new folder" / "model")
    labelled = ((small_sample["split"] == "train") & small_sample["event"].is_not_null()).sum()
    assert f"5 events from {labelled} labelled and 0 unlabelled messages" in done.output
    assert f"eventide evaluate '{tmp_path}/new folder/model' FILE" in done.output
    assert names(tmp_path / "new folder") == ["model"]


def test_row_5_a_model_is_not_replaced_without_a_word(source, tmp_path, no_reading):
    """Failure 46."""
    (tmp_path / "model").mkdir()
    manifest = tmp_path / "model" / "manifest.json"
    manifest.write_text('{"format": "eventide-model", "version": 2, "files": {}}')
    for more in ([], ["--resume"]):
        with pytest.raises(OutputError, match=r"a model already(.|\n)*--overwrite"):
            train(source, tmp_path / "model", *more)
    assert names(tmp_path / "model") == ["manifest.json"]


def test_row_5_overwrite_replaces_a_model(source, tmp_path):
    train(source, tmp_path / "model")
    before = (tmp_path / "model" / "manifest.json").read_bytes()
    train(source, tmp_path / "model", "--overwrite", "--seed", 1)
    assert (tmp_path / "model" / "manifest.json").read_bytes() != before
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("out", [".", "/", "file", "folder", "messages.parquet", "file/model"])
def test_row_5_a_bad_out_is_told_before_anything_is_read(
    source, tmp_path, monkeypatch, no_reading, out
):
    """Failures 8 to 10 and 49, and an output that is the input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("precious")
    (tmp_path / "messages.parquet").write_bytes(source.read_bytes())
    with pytest.raises(OutputError):
        train("messages.parquet", out, "--overwrite")
    assert (tmp_path / "file").read_text() == "precious"
    assert names(tmp_path) == ["file", "folder", "messages.parquet"]


def test_row_5_a_full_disk_is_told_before_anything_is_read(source, tmp_path, no_reading):
    """Failure 12."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small file system")
    try:
        with pytest.raises(OutputError, match="the disk is full"):
            train(source, disk / "model")
        assert names(disk) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_row_13_a_seed_that_no_generator_takes_is_a_usage_error(source, tmp_path):
    """Failure 7."""
    done = invoke("train", source, "--out", tmp_path / "model", "--seed", 2**70)
    assert done.exit_code == 2
    assert names(tmp_path) == []


def test_row_5_resume_needs_a_checkpoint(source, tmp_path, no_reading):
    with pytest.raises(OutputError, match="no checkpoint to resume from"):
        train(source, tmp_path / "model", "--resume")
    with pytest.raises(OutputError, match="no checkpoint to resume from"):
        train(source, tmp_path / "model", "--resume", "--checkpoint-every", 0)
    assert names(tmp_path) == []


def test_row_5_two_trainings_into_one_out(source, tmp_path, no_reading):
    """Failure 47: the second is told at once."""
    with reserved(tmp_path / "model"):
        with pytest.raises(OutputError, match="another process is writing here"):
            train(source, tmp_path / "model")
        with pytest.raises(OutputError, match="another process is writing here"):
            train(source, tmp_path / "model", "--overwrite")


def test_row_5_and_22_a_run_that_was_stopped(source, tmp_path, stop, monkeypatch):
    """Ctrl-C says how to resume; the checkpoint survives a rerun; resuming gives the same model."""
    out = tmp_path / "my model"
    line = ["train", str(source), "--out", str(out), *QUICK, "--checkpoint-every", "1"]
    monkeypatch.setattr("sys.argv", ["eventide", *line])
    stop(1)
    done = train(source, out, "--checkpoint-every", 1)
    assert done.exit_code == 130
    assert "before the first checkpoint" in done.stderr
    assert names(tmp_path) == []
    stop(2)
    done = train(source, out, "--checkpoint-every", 1)
    assert done.exit_code == 130
    command = done.stderr.strip().splitlines()[-1].strip()
    assert shlex.split(command) == ["eventide", *line, "--resume"]
    assert names(tmp_path) == ["my model.checkpoint"]

    monkeypatch.undo()
    with pytest.raises(OutputError, match=r"--resume(.|\n)*--overwrite"):
        train(source, out, "--checkpoint-every", 1)
    assert has_checkpoint(tmp_path / "my model.checkpoint")
    assert invoke(*shlex.split(command)[1:]).exit_code == 0
    assert names(tmp_path) == ["my model"]
    train(source, tmp_path / "whole")
    weights = (out / "weights.safetensors").read_bytes()
    assert weights == (tmp_path / "whole" / "weights.safetensors").read_bytes()


def test_row_5_overwrite_starts_anew_and_resume_over_a_model_needs_it(source, tmp_path, stop):
    out = tmp_path / "model"
    train(source, out)
    stop(2)
    assert train(source, out, "--overwrite", "--checkpoint-every", 1).exit_code == 130
    assert names(tmp_path) == ["model", "model.checkpoint"]
    assert len(eventide.load(out).history_) == 2
    with pytest.raises(OutputError, match="a model already"):
        train(source, out, "--resume")
    assert has_checkpoint(tmp_path / "model.checkpoint")
    stop(-1)
    train(source, out, "--overwrite")
    assert names(tmp_path) == ["model"]


def test_a_checkpoint_survives_a_model_that_cannot_be_saved(source, tmp_path, monkeypatch):
    """Failure 12: the training is not lost, for the run can be resumed once there is room."""

    def full(*_):
        raise CannotWrite("cannot write the model: No space left on device")

    monkeypatch.setattr("eventide.model.artefact.write_bundle", full)
    with pytest.raises(CannotWrite):
        train(source, tmp_path / "model", "--checkpoint-every", 1)
    assert names(tmp_path) == ["model.checkpoint"]
    monkeypatch.undo()
    train(source, tmp_path / "model", "--resume")
    assert names(tmp_path) == ["model"]


def test_row_2_rejected_rows_are_counted_and_written(source, tmp_path):
    broken = tmp_path / "broken.jsonl"
    rows = pl.read_parquet(source).select("id", "text", "created_at", "event", "split", "user")
    broken.write_text(rows.write_ndjson() + '{"id": "x"\n')
    done = train(broken, tmp_path / "model", "--rejected", tmp_path / "bad.csv", "--json")
    assert "1 rejected" in done.stderr
    report = json.loads(done.stdout)
    assert (report["messages"], report["rejected"]) == (len(rows), 1)
    assert len(pl.read_csv(tmp_path / "bad.csv")) == 1
    with pytest.raises(EventideError, match="not valid"):
        train(broken, tmp_path / "other", "--strict")
    assert names(tmp_path) == ["bad.csv", "broken.jsonl", "model"]


def test_row_17_a_salt_file_is_kept_apart(source, tmp_path, small_sample):
    out, salt = tmp_path / "model", tmp_path / "salt"
    with pytest.raises(OutputError, match="inside the model"):
        train(source, out, "--salt-file", out / "salt")
    train(source, out, "--salt-file", salt)
    assert len(bytes.fromhex(salt.read_text())) == 32
    with pytest.raises(EventideError, match="--salt-file"):
        eventide.load(out)
    author = small_sample["user"].drop_nulls()[0]
    done = invoke("forget", out, "--user", f"@{author}", "--salt-file", salt)
    assert "forgotten" in done.output


def test_row_24_forget_finds_the_author_with_a_sign(source, tmp_path, small_sample):
    train(source, tmp_path / "model")
    author = small_sample["user"].drop_nulls()[0]
    count = (small_sample["user"] == author).sum()
    done = invoke("forget", tmp_path / "model", "--user", f"@{author}")
    assert f"{count} messages forgotten" in done.output
    assert names(tmp_path) == ["model"]


@pytest.mark.slow
def test_row_5_and_22_with_real_processes(source, tmp_path):
    """Two trainings into one --out, then Ctrl-C at the first."""
    words = ["train", source, "--out", "model", *QUICK, "--checkpoint-every", "1"]
    words += ["--set", "training.epochs=400"]
    command = [sys.executable, "-m", "eventide", *map(str, words)]
    first = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:

        def begun():
            assert first.poll() is None
            return (tmp_path / "model.checkpoint" / "phase-1").exists()

        until(begun, "the first checkpoint")
        second = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LONG
        )
        assert second.returncode == 2
        assert "another process is writing here" in second.stderr
        assert "Traceback" not in second.stderr
        first.send_signal(signal.SIGINT)
        told = first.communicate(timeout=60)[1]
    finally:
        first.kill()
        first.communicate()
    assert first.returncode == 130
    assert "Traceback" not in told
    printed = shlex.split(told.strip().splitlines()[-1])
    assert printed == ["eventide", *map(str, words), "--resume"]
    assert names(tmp_path) == ["model.checkpoint"]
