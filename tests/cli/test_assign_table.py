"""``eventide assign`` to one file by worker processes: the same file as by one process."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from eventide.cli import assign_table


@pytest.fixture
def two_workers(monkeypatch):
    monkeypatch.setattr(assign_table, "WORTH_WORKERS", 2)
    monkeypatch.setattr(assign_table, "own_threads", lambda: 2)


def test_a_large_file_is_shared_by_workers(invoke, trained, tmp_path, request):
    words = ("assign", trained / "model", trained / "new.jsonl", "--coverage", 0.9, "--out")
    assert invoke(*words, tmp_path / "one.parquet").exit_code == 0
    request.getfixturevalue("two_workers")
    done = invoke(*words, tmp_path / "two.parquet")
    assert done.exit_code == 0, done.output
    one, two = (pl.read_parquet(tmp_path / name) for name in ("one.parquet", "two.parquet"))
    assert_frame_equal(one, two, abs_tol=1e-6, rel_tol=0)


@pytest.mark.parametrize(("threads", "messages", "workers"), [(1, 10**6, 1), (2, 10, 1)])
def test_little_work_and_one_core_need_no_workers(monkeypatch, threads, messages, workers):
    monkeypatch.setattr(assign_table, "own_threads", lambda: threads)
    assert assign_table.workers_for(messages) == workers
