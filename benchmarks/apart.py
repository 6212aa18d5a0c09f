"""Run one variant in a process of its own and hand back its figures: time and memory."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def run_apart(script: str, arguments: list[str], threads: int) -> dict[str, Any]:
    """Start ``script`` with ``arguments`` in a fresh process; its last line is its figures."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
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
