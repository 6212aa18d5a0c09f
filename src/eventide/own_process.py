"""A process of our own, the command line's or a worker's: set up for work beside others.

A program that uses Eventide as a library decides all this itself: nothing here happens there.
"""

from __future__ import annotations

import os

from eventide.cores import allowed_cores, usable_cores
from eventide.kept_memory import keep_memory

WAITING = "OMP_WAIT_POLICY"
POOLS = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS")


def set_up() -> None:
    """Set this process up; must come before torch and polars are loaded, which look once."""
    os.environ.update(environment())
    keep_memory()


def environment() -> dict[str, str]:
    """Return the variables a process of ours should have, without those the user chose.

    Threads that wait should sleep: OpenMP's spin otherwise, and beside other trainings an epoch
    then takes up to 50 times as long (benchmarks/busy.py). Where a container may use but a share of
    the cores, more threads than that only hold each other up.

    >>> set(environment()) <= {"OMP_WAIT_POLICY", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"}
    True
    """
    wanted = {} if waiting_chosen() else {WAITING: "PASSIVE"}
    cores = usable_cores()
    if cores < allowed_cores():
        wanted |= dict.fromkeys(POOLS, str(cores))
    return {name: value for name, value in wanted.items() if name not in os.environ}


def waiting_chosen() -> bool:
    """Tell whether the environment already says how OpenMP's threads wait."""
    return WAITING in os.environ or "GOMP_SPINCOUNT" in os.environ
