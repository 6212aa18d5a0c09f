"""Worker processes: the same figures, nothing left behind, and a kill costs one run at most."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context

import pytest

from eventide.errors import OutputError
from eventide.experiments import choose, compare, workers
from eventide.experiments.run_log import RunLog
from eventide.experiments.workers import end_workers, register, some_ended
from eventide.methods import METHODS
from eventide.registry import Entry
from processes import LONG, until

SCRIPT = """
import sys, polars as pl
from eventide.experiments import choose, compare
compare(
    pl.read_parquet(sys.argv[1]), choose("ce,ucl-ec").variants, range(50), out=sys.argv[2],
    split="proportional", encoder="tfidf-svd:16", workers=1,
    changes={"training.epochs": 2, "network.layers": (16, 16), "network.head_hidden": 16},
)
"""


@pytest.mark.slow
def test_two_workers_give_what_one_gives_and_stop_when_told(
    compared, small_sample, quick, tmp_path
):
    seen = []

    def stop_after_two(step):
        if step.run is not None:
            seen.append(step.run)
        if len(seen) == 2:
            raise KeyboardInterrupt

    before = set(active_children())
    with pytest.raises(KeyboardInterrupt):
        compare(
            small_sample, compared.variants, range(20), out=tmp_path, watch=stop_after_two,
            **(quick | {"workers": 2}),
        )  # fmt: skip
    assert set(active_children()) == before
    kept, damaged = RunLog(tmp_path / "runs.jsonl").read()
    assert (kept, damaged) == (seen, 0)
    alone = {run.key: run for runs in compared.runs.values() for run in runs}
    for run in kept:
        assert run.threads == 1
        assert run.outcome.predicted == alone[run.key].outcome.predicted


@pytest.mark.slow
def test_a_killed_comparison_goes_on_where_it_was(small_sample, quick, tmp_path):
    small_sample.write_parquet(tmp_path / "messages.parquet")
    ledger = RunLog(tmp_path / "out" / "runs.jsonl")
    command = [sys.executable, "-c", SCRIPT, tmp_path / "messages.parquet", tmp_path / "out"]
    with subprocess.Popen([str(word) for word in command]) as process:
        try:

            def two_runs():
                assert process.poll() is None
                return len(ledger.read()[0]) >= 2

            until(two_runs, "two runs")
        finally:
            os.kill(process.pid, signal.SIGKILL)
    with ledger.path.open("ab") as file:
        file.write(b'{"key": "cut sho')
    kept, _ = ledger.read()
    before = ledger.path.read_bytes()
    seeds = range((len(kept) + 1) // 2 + 1)
    steps = []
    found = compare(
        small_sample, choose("ce,ucl-ec").variants, seeds, out=tmp_path / "out",
        watch=steps.append, **quick,
    )  # fmt: skip
    assert steps[0].done == len(kept)
    assert len(steps) - 1 == 2 * len(seeds) - len(kept)
    assert ledger.path.read_bytes().startswith(before)
    assert [len(runs) for runs in found.runs.values()] == [len(seeds)] * 2
    assert any("unreadable" in note for note in found.notes)


REGISTERING = """
import sys, polars as pl
from eventide.experiments import choose, compare
from eventide.methods import METHODS

if __name__ == "__main__":
    METHODS.add("mine", "method_of_row_27:Mine", "a method of the calling script", "beyond")
    compare(
        pl.read_parquet(sys.argv[1]), choose("mine,lr-tfidf").variants, [0], out=sys.argv[2],
        split="proportional", encoder="tfidf-svd:16", workers=2,
    )
"""


@pytest.mark.slow
def test_methods_registered_at_runtime_work_in_workers(small_sample, tmp_path):
    """Row 27: what the calling script has registered is known in its worker processes."""
    small_sample.write_parquet(tmp_path / "messages.parquet")
    (tmp_path / "script.py").write_text(REGISTERING)
    (tmp_path / "method_of_row_27.py").write_text(
        "from eventide.methods.baselines.logistic_regression import LrTfidf\n\n\n"
        "class Mine(LrTfidf):\n    note = 'mine'\n"
    )
    words = [tmp_path / "script.py", tmp_path / "messages.parquet", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, timeout=LONG
    )
    assert done.returncode == 0, done.stderr
    kept, _ = RunLog(tmp_path / "out" / "runs.jsonl").read()
    assert sorted((run.method, run.error, run.threads) for run in kept) == [
        ("lr-tfidf", None, 1),
        ("mine", None, 1),
    ]
    assert {run.note for run in kept} == {"", "mine; not tuned"}
    own = {run.method: run.code for run in kept}
    assert own["mine"] != own["lr-tfidf"]


def test_a_death_that_a_pool_misses_is_noticed(monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.05)
    dead = get_context("spawn").Process()
    dead.start()
    dead.join(60)
    with pytest.raises(BrokenProcessPool, match="did not notice"):
        some_ended([Future()], [dead])
    done = Future()
    done.set_result(1)
    assert some_ended([done, Future()], [dead]) == {done}


def test_a_worker_that_does_not_listen_is_killed():
    asked = []

    class Deaf:
        def terminate(self):
            asked.append("terminate")

        def join(self, seconds):
            asked.append(seconds)

        def is_alive(self):
            return True

        def kill(self):
            asked.append("kill")

    end_workers([Deaf()])
    assert asked == ["terminate", workers.SECONDS_TO_END, "kill"]


def test_a_worker_adds_what_it_lacks_and_keeps_what_it_has(monkeypatch):
    """Row 27: entries are added once; a module that registers itself when imported is left to it."""
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    mine = Entry("mine", "eventide.methods.ucl:Ucl", "mine", "beyond")
    absent = Entry("absent", "no_such_module:Mine", "cannot be imported")
    other = Entry("ucl", "elsewhere:Ucl", "not this one")
    for _ in range(2):
        register({"methods": [mine, absent, other], "encoders": []})
    assert METHODS.entry("mine") == mine
    assert METHODS.entry("absent") == absent
    assert METHODS.entry("ucl").target == "eventide.methods.ucl:Ucl"


def test_two_comparisons_cannot_write_to_one_folder(small_sample, quick, tmp_path):
    """Row 5: the second one is told, and nothing of the first is lost."""
    variants = choose("lr-tfidf").variants

    def begin_another(step):
        if step.run is None:
            with pytest.raises(OutputError, match="another process is writing"):
                compare(small_sample, variants, [5], out=tmp_path, **quick)

    compare(small_sample, variants, [0], out=tmp_path, watch=begin_another, **quick)
    assert [run.seed for run in RunLog(tmp_path / "runs.jsonl").read()[0]] == [0]
    compare(small_sample, variants, [5], out=tmp_path, **quick)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: path.write_text("mine"), "a file, where a folder"),
        (
            lambda path: (path.mkdir(), (path / "runs.jsonl").write_text("mine")),
            "not of a comparis",
        ),
        (lambda path: (path / "runs.jsonl").mkdir(parents=True), "a folder, where a file"),
    ],
)
def test_a_place_that_cannot_hold_runs_is_said_before_reading(make, says, quick, tmp_path):
    """Row 5: --out is checked before anything is read, and what is there stays."""
    make(tmp_path / "out")
    with pytest.raises(OutputError, match=says):
        compare("no such file", choose("ce").variants, [0], out=tmp_path / "out", **quick)
