"""Work side by side: in order, and by one thread where a worker has one core."""

import threading

import pytest

from eventide.features.parallel import side_by_side


@pytest.mark.parametrize(("threads", "others"), [("1", False), ("2", True)])
def test_a_worker_with_one_thread_starts_no_others(monkeypatch, threads, others):
    monkeypatch.setenv("POLARS_MAX_THREADS", threads)
    monkeypatch.setattr("eventide.runtime.cores.usable_cores", lambda: 2)
    here = threading.get_ident()
    found = list(side_by_side(lambda item: (item, threading.get_ident()), range(6)))
    assert [item for item, _ in found] == list(range(6))
    assert any(thread != here for _, thread in found) == others
