"""Row 30 and row 1: our own processes are set up for work beside others; a host is left alone."""

import json
import logging
import os
import subprocess
import sys

import pytest
import torch

from eventide.experiments.workers import single_threads
from eventide.model import EventClassifier
from eventide.runtime import own_process
from eventide.runtime import own_process as kept_memory
from eventide.runtime import own_process as spinning

COMMAND = """
import json, os, sys
import eventide.cli.main as command
heavy = [name for name in ("torch", "polars", "numpy") if name in sys.modules]
before = dict(os.environ)
command.app = lambda: print(json.dumps({"heavy": heavy, "before": before, "after": dict(os.environ)}))
command.main()
"""
CYCLES = """
import atexit, gc
first = gc.get_threshold()
from eventide.runtime.own_process import set_up
assert gc.get_threshold() == first  # importing changes nothing
atexit.register(lambda: print(gc.get_freeze_count() > 1000, gc.get_threshold()[0] > first[0], gc.isenabled()))
set_up()
atexit.register(lambda: print(gc.get_freeze_count()))
"""
FIT = """
import ctypes, sys
import polars as pl
from eventide.model import EventClassifier

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

glibc = ctypes.CDLL(None)
glibc.mallinfo2.restype, glibc.malloc.restype = Info, ctypes.c_void_p
glibc.free.argtypes = [ctypes.c_void_p]

def dynamic():
    # glibc raises its threshold to the size of what was freed: the next such buffer is no mapping
    glibc.free(glibc.malloc(ctypes.c_size_t(20 << 20)))
    before = glibc.mallinfo2().hblks
    buffer = glibc.malloc(ctypes.c_size_t(20 << 20))
    mapped = glibc.mallinfo2().hblks - before
    glibc.free(buffer)
    return mapped == 0

EventClassifier(encoder="tfidf-svd:8", training__epochs=1).fit(pl.read_parquet(sys.argv[1]))
print(dynamic())
"""


def run(script, *arguments, **variables):
    """Run a script in a process without the variables that the tests themselves set."""
    dropped = ("OMP_", "GOMP_", "MALLOC_", "GLIBC_", "POLARS_", "MKL_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment | variables, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_a_process_of_ours_looks_for_cycles_less_often():
    """Less often, and not in its last moment, when nothing would be gained by it."""
    assert run(CYCLES) == "True True True"


@pytest.mark.parametrize(
    ("chosen", "policy", "spins"),
    [
        ({}, "PASSIVE", str(own_process.SPINS)),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE", None),
        ({"GOMP_SPINCOUNT": "1000"}, None, "1000"),
    ],
)
def test_the_command_line_lets_waiting_threads_sleep_soon(chosen, policy, spins):
    """Row 30: set before torch is loaded, and never against what the user chose."""
    told = json.loads(run(COMMAND, **chosen))
    assert told["heavy"] == []  # importing the command line stays quick
    assert told["before"].get("OMP_WAIT_POLICY") == chosen.get("OMP_WAIT_POLICY")
    assert told["after"].get("OMP_WAIT_POLICY") == policy
    assert told["after"].get("GOMP_SPINCOUNT") == spins


def test_threads_follow_a_share_that_is_smaller_than_the_cores(monkeypatch):
    """Row 30: torch and polars would start a thread for each core they see."""
    for name in own_process.POOLS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(own_process, "allowed_cores", lambda: 8)
    monkeypatch.setattr(own_process, "usable_cores", lambda: 8)
    assert not set(own_process.environment()) & set(own_process.POOLS)
    monkeypatch.setattr(own_process, "usable_cores", lambda: 3)
    wanted = own_process.environment()
    assert [wanted[name] for name in own_process.POOLS] == ["3", "3"]
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    assert "OMP_NUM_THREADS" not in own_process.environment()


def test_workers_sleep_while_they_wait_too(monkeypatch):
    """Row 30: processes that a comparison starts have it in their environment, ours keeps its own."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    with single_threads():
        assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
        assert os.environ["GOMP_SPINCOUNT"] == str(own_process.SPINS)
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert "OMP_WAIT_POLICY" not in os.environ


@pytest.fixture
def busy_library(monkeypatch):
    """A program that trains with two spinning threads beside others."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.setattr(spinning, "_said", False)
    monkeypatch.setattr(spinning, "usable_cores", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (1.5, 1.0, 1.0))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)


def test_a_library_is_warned_once_where_threads_spin(busy_library, caplog):
    """Row 30: once per process, with what to do."""
    with caplog.at_level(logging.WARNING, logger="eventide"):
        spinning.warn_if_spinning()
        spinning.warn_if_spinning()
    assert len(caplog.records) == 1
    assert "OMP_WAIT_POLICY=PASSIVE" in caplog.text


@pytest.mark.parametrize(
    "calm",
    [
        lambda monkeypatch: monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE"),
        lambda monkeypatch: monkeypatch.setenv("GOMP_SPINCOUNT", "0"),
        lambda monkeypatch: monkeypatch.setattr(os, "getloadavg", lambda: (0.4, 0.0, 0.0)),
        lambda monkeypatch: monkeypatch.setattr(torch, "get_num_threads", lambda: 1),
    ],
)
def test_nobody_is_warned_without_need(busy_library, monkeypatch, caplog, calm):
    """Row 30: a choice made, one thread, or an idle machine."""
    calm(monkeypatch)
    with caplog.at_level(logging.WARNING, logger="eventide"):
        spinning.warn_if_spinning()
    assert not caplog.records


class Recorder:
    """Notes what the allocator is asked."""

    def __init__(self):
        self.calls = []

    def mallopt(self, *values):
        self.calls.append(values)

    def malloc_trim(self, size):
        self.calls.append(size)


@pytest.fixture
def allocator(monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(kept_memory, "_glibc", lambda: recorder)
    monkeypatch.setattr(kept_memory, "_library", None)
    monkeypatch.setattr(kept_memory, "_own", False)
    for name in [name for name in os.environ if name.startswith(("MALLOC_", "GLIBC_TUNABLES"))]:
        monkeypatch.delenv(name)
    return recorder


def test_a_fit_in_a_library_leaves_the_allocator_alone(allocator, small_sample):
    """Row 1: glibc's switches are one for the whole program, and the program is not ours."""
    quick = {"encoder": "tfidf-svd:8", "training__epochs": 1}
    EventClassifier(**quick).fit(small_sample)
    assert allocator.calls == []
    kept_memory.make_own()
    EventClassifier(**quick).fit(small_sample)
    assert allocator.calls


@pytest.mark.parametrize("name", ["MALLOC_MMAP_THRESHOLD_", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_what_the_user_chose_for_the_allocator_stays(allocator, monkeypatch, name):
    """Row 1: not even in a process of our own."""
    monkeypatch.setenv(name, "1")
    kept_memory.make_own()
    with kept_memory.kept_memory():
        pass
    assert allocator.calls == []


def test_very_many_messages_give_their_memory_back(allocator):
    kept_memory.make_own()
    with kept_memory.kept_memory(kept_memory.MOST_KEPT + 1):
        pass
    assert allocator.calls == []
    with kept_memory.kept_memory(kept_memory.MOST_KEPT):
        assert allocator.calls


def test_what_is_free_between_pieces_goes_back_unless_it_is_kept(allocator):
    kept_memory.give_back_memory()
    assert allocator.calls == []  # a library leaves the allocator alone
    kept_memory.make_own()
    with kept_memory.kept_memory():
        before = list(allocator.calls)
        kept_memory.give_back_memory()
        assert allocator.calls == before
    kept_memory.give_back_memory()
    assert allocator.calls[-2:] == [0, 0]


@pytest.mark.slow
@pytest.mark.skipif(kept_memory._glibc() is None, reason="needs glibc")
def test_the_threshold_of_glibc_still_moves_after_a_fit(small_sample, tmp_path):
    """Row 1: setting any of the switches stops it for good."""
    small_sample.write_parquet(tmp_path / "messages.parquet")
    assert run(FIT, tmp_path / "messages.parquet", OMP_NUM_THREADS="1") == "True"
