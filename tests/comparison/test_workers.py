"""Worker processes: the same figures, nothing left behind, and a kill costs one run at most."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children

import pytest

from eventide.comparison import choose, compare
from eventide.comparison.ledger import Ledger

SCRIPT = """
import sys, polars as pl
from eventide.comparison import choose, compare
compare(
    pl.read_parquet(sys.argv[1]), choose("ce,ucl-ec").contestants, range(50), out=sys.argv[2],
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
            small_sample, compared.contestants, range(20), out=tmp_path, watch=stop_after_two,
            **(quick | {"workers": 2}),
        )  # fmt: skip
    assert set(active_children()) == before
    kept, damaged = Ledger(tmp_path / "runs.jsonl").read()
    assert (kept, damaged) == (seen, 0)
    alone = {run.key: run for runs in compared.runs.values() for run in runs}
    for run in kept:
        assert run.threads == 1
        assert run.outcome.predicted == alone[run.key].outcome.predicted


@pytest.mark.slow
def test_a_killed_comparison_goes_on_where_it_was(small_sample, quick, tmp_path):
    small_sample.write_parquet(tmp_path / "messages.parquet")
    ledger = Ledger(tmp_path / "out" / "runs.jsonl")
    command = [sys.executable, "-c", SCRIPT, tmp_path / "messages.parquet", tmp_path / "out"]
    with subprocess.Popen([str(word) for word in command]) as process:
        try:
            deadline = time.monotonic() + 60
            while len(ledger.read()[0]) < 2:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
        finally:
            os.kill(process.pid, signal.SIGKILL)
    with ledger.path.open("ab") as file:
        file.write(b'{"key": "cut sho')
    kept, _ = ledger.read()
    before = ledger.path.read_bytes()
    seeds = range((len(kept) + 1) // 2 + 1)
    steps = []
    found = compare(
        small_sample, choose("ce,ucl-ec").contestants, seeds, out=tmp_path / "out",
        watch=steps.append, **quick,
    )  # fmt: skip
    assert steps[0].done == len(kept)
    assert len(steps) - 1 == 2 * len(seeds) - len(kept)
    assert ledger.path.read_bytes().startswith(before)
    assert [len(runs) for runs in found.runs.values()] == [len(seeds)] * 2
    assert any("unreadable" in note for note in found.notes)
