"""How many processor cores this process may really use: by affinity and by its cgroup's share."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")
POLARS_THREADS = "POLARS_MAX_THREADS"


def usable_cores(root: Path = ROOT) -> int:
    """Count the cores of this process's affinity, or fewer where a cgroup gives it a smaller share.

    A share of 1.5 cores counts as 2. ``root`` is where /proc and /sys are looked for.

    >>> 1 <= usable_cores() <= (os.cpu_count() or 1)
    True
    """
    share = min(_quotas(root), default=math.inf)
    return max(1, min(allowed_cores(), math.ceil(share))) if share < math.inf else allowed_cores()


def own_threads() -> int:
    """Count the threads that may work side by side here: one a core, or as many as polars may have.

    A worker among others is told to use one by the same variable.
    """
    limit = os.environ.get(POLARS_THREADS, "")
    return max(1, min(usable_cores(), int(limit))) if limit.isdecimal() else usable_cores()


def allowed_cores() -> int:
    """Count the cores of this process's affinity, whatever share of them it gets."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _quotas(root: Path) -> Iterator[float]:
    """Yield how many cores each cgroup above this process allows, where one sets a limit."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        mounts = ["", "unified"] if not controllers else ["cpu", controllers]
        if controllers and "cpu" not in controllers.split(","):
            continue
        for mount in mounts:
            top = root / "sys/fs/cgroup" / mount
            own = top / path.strip("/")
            # Inside a container the path may be the host's: then only the top is there to be read.
            for folder in (own, *own.parents):
                if not folder.is_relative_to(top):
                    break
                quota = _quota(folder)
                if quota is not None:
                    yield quota


def _quota(folder: Path) -> float | None:
    """Read the limit of one cgroup, of version 2 or 1; None where it sets none."""
    quota, _, period = _read(folder / "cpu.max").partition(" ")
    if not quota:
        quota = _read(folder / "cpu.cfs_quota_us")
        period = _read(folder / "cpu.cfs_period_us")
    try:
        limit, length = int(quota), int(period)
    except ValueError:  # "max", or no such file
        return None
    return limit / length if limit > 0 and length > 0 else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
