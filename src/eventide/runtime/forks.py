"""Forked processes: the threads of polars and torch stay behind in the parent.

A child that asks polars for them waits for ever, whatever it asks for. So the first call in a child
tries polars with a time limit, and a child that cannot go on says so. It can where the parent has
imported and loaded but not yet computed. Torch's threads are lost too, but torch works with one.

It must be watching before polars is imported, to be sure of every fork.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Literal

from eventide.errors import ForkedProcess

PATIENCE = 3.0
"""Seconds that polars may take to count to one."""

_State = Literal["sound", "unknown", "forked", "lost"]
_state: _State = "unknown" if "polars" in sys.modules else "sound"
_torch_inherited = False


def watch_forks() -> None:
    """Learn of every fork from now on."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)


def check_process() -> None:
    """Raise ``ForkedProcess`` where an answer would never come; every public call begins here."""
    global _state
    if _state == "sound":
        return
    if _state == "unknown" and _has_polars_threads():
        _state = "sound"  # polars was imported in this very process
        return
    if _state == "lost" or not _polars_answers():
        _state = "lost"
        raise ForkedProcess(
            "this process was forked from one that had already computed, and the threads it needs "
            "stayed behind",
            where=f"process {os.getpid()}",
            next_step='start processes by multiprocessing.get_context("spawn"), or fork before '
            "the parent first reads messages, fits or predicts",
        )
    if _torch_inherited:
        import torch

        torch.set_num_threads(1)
    _state = "sound"


def _forked() -> None:
    """Note in a child what it has from its parent."""
    global _state, _torch_inherited
    _torch_inherited = "torch" in sys.modules
    if _state != "lost":
        _state = "forked" if "polars" in sys.modules or _torch_inherited else "sound"


def _has_polars_threads() -> bool:
    """Tell whether threads of polars are alive here; they exist once it is imported."""
    try:
        names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    except OSError:
        return False
    return any(name.startswith("polars") for name in names)


def _polars_answers() -> bool:
    import polars as pl

    done = Event()

    def count() -> None:
        # Reading needs one pool of threads, grouping the other.
        read = pl.read_csv(b"a,b\n1,2\n")
        read.lazy().group_by("a").agg(pl.len(), pl.col("b").sum()).collect()
        done.set()

    Thread(target=count, daemon=True).start()
    return done.wait(PATIENCE)
