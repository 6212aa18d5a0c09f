"""Run one variant in a process of its own and hand back its figures: time and memory."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]


def run_apart(
    script: str, arguments: list[str], threads: int, sources: str | None = None
) -> dict[str, Any]:
    """Start ``script`` with ``arguments`` in a fresh process; its last line is its figures.

    Its threads wait as those of the command line do, unless the environment says otherwise.
    ``sources`` is the folder to import the package from, where it is not the installed one.
    """
    # not at the top: older commits, whose package a child may import, lack it
    from eventide.runtime.own_process import environment as waiting_as_ours

    own = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    environment = {**waiting_as_ours(), **os.environ, **own}
    if sources is not None:
        environment["PYTHONPATH"] = sources
    done = subprocess.run(
        [sys.executable, script, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def report(**figures: Any) -> None:
    """Print the figures of this process for the one that started it, peak memory included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**figures, "peak_mb": round(peak)}))


def seconds(work: Callable[[], Any], repeats: int = 3, warm: int = 1) -> dict[str, float]:
    """Median seconds of ``work``, by the wall and of the processor, after ``warm`` other runs.

    The two differ where other programs want the processor too; with one thread the processor's
    seconds are the steadier figure.
    """
    for _ in range(warm):
        work()
    wall, cpu = [], []
    for _ in range(repeats):
        start = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    return {"wall": statistics.median(wall), "cpu": statistics.median(cpu)}


class Watched(NamedTuple):
    """A program that ran: seconds on the clock and of the processor, and its peak memory in MiB.

    ``together`` is the memory of all its processes at one moment, ``largest`` that of one of them.
    """

    wall: float
    cpu: float
    together: float
    largest: float


def watched(command: list[str], every: float = 0.2) -> Watched:
    """Run a program to its end and look at the memory of all its processes now and then.

    Memory is the proportional set (PSS) of Linux: what processes share is counted once.
    """
    before, start = os.times(), time.perf_counter()
    together = largest = 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            each = [_memory(process) for process in _family(running.pid)]
            together, largest = max(together, sum(each)), max(largest, *each)
            time.sleep(every)
    wall, after = time.perf_counter() - start, os.times()
    if running.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    used = after.children_user + after.children_system
    return Watched(wall, used - before.children_user - before.children_system, together, largest)


def _family(process: int) -> list[int]:
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended
        children = []
    return [process, *(other for child in children for other in _family(int(child)))]


def _memory(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check a commit out into a temporary folder for a while."""
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "against"
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
