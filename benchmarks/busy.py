"""How much slower is an epoch of training beside others? Ratios to an idle machine, in one run.

    python benchmarks/busy.py                   # as the command line trains: waiting threads spin
                                                # for microseconds, then sleep
    python benchmarks/busy.py --policy PASSIVE  # they sleep at once
    python benchmarks/busy.py --policy ACTIVE   # as torch does by itself: they spin
    python benchmarks/busy.py --dataset crisislex-lt28 --epochs 5

Each case has processes of its own: the training that is measured, and its neighbours, which end
when the case ends, or by themselves after ``--limit`` seconds. Targets: within 2 times of idle, 2.5
times beside two busy loops. Run it on a machine that does nothing else; the load is printed first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from eventide.data.datasets import registered_path
from eventide.runtime.cores import usable_cores
from eventide.runtime.own_process import SPINNING, WAITING, set_up

DATASET = "crisislex-t7"
WARM_UP = 2
CASES: dict[str, tuple[tuple[str, ...], float]] = {
    "idle": ((), 1.0),
    "beside a busy Python loop": (("loop",), 2.0),
    "beside two busy Python loops": (("loop", "loop"), 2.5),
    "beside another training": (("train",), 2.0),
    "idle again": ((), 2.0),
}
READY = "ready"


class Enough(Exception):
    """The neighbour has trained for as long as it may."""


def keep_busy(limit: float) -> None:
    """Do nothing of use, in plain Python, on one core."""
    print(READY, flush=True)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        pass


def train(dataset: str, epochs: int, limit: float) -> None:
    """Train as the command line does; print the seconds of the epochs, or stop after the limit."""
    set_up()
    from eventide.data.sample import sample
    from eventide.model import EventClassifier

    seconds: list[float] = []
    end = time.monotonic() + limit

    def watch(row: dict[str, float]) -> None:
        seconds.append(row["seconds"])
        if len(seconds) == 1:
            print(READY, flush=True)
        if time.monotonic() > end:
            raise Enough

    messages = sample() if dataset == "sample" else dataset
    model = EventClassifier(training__epochs=epochs, training__patience=None)
    with suppress(Enough):
        model.fit(messages, watch=watch)
    print(json.dumps(seconds), flush=True)


@contextmanager
def process(what: str, asked: argparse.Namespace, epochs: int) -> Iterator[IO[str]]:
    """Start this script as a neighbour or as the measured training; give what it prints, end it."""
    environment = {k: v for k, v in os.environ.items() if k not in (WAITING, SPINNING)}
    if asked.policy:
        environment[WAITING] = asked.policy
    if asked.spins is not None:
        environment[SPINNING] = str(asked.spins)
    options = [f"--run={what}", f"--dataset={asked.dataset}", f"--epochs={epochs}"]
    command = [sys.executable, __file__, *options, f"--limit={asked.limit}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as started:
        try:
            assert started.stdout is not None
            if started.stdout.readline().strip() != READY:
                raise SystemExit(f"{what}: did not start")
            yield started.stdout
        finally:
            started.kill()


def measured(neighbours: tuple[str, ...], asked: argparse.Namespace) -> float:
    """Return the median seconds of an epoch beside these neighbours."""
    with ExitStack() as stack:
        for each in neighbours:
            stack.enter_context(process(each, asked, epochs=1_000_000))
        printed = stack.enter_context(process("train", asked, asked.epochs + WARM_UP))
        seconds: list[float] = json.loads(printed.readline())
    if len(seconds) <= WARM_UP:
        raise SystemExit(f"no epoch ended within {asked.limit:.0f} s")
    return statistics.median(seconds[WARM_UP:])


def main() -> None:
    """Measure every case, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", help=f"{DATASET} if it is built, else the built-in sample")
    parser.add_argument("--epochs", type=int, default=15, help="measured in each case")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each process")
    parser.add_argument("--policy", choices=["ACTIVE", "PASSIVE"], help="of OpenMP; else ours")
    parser.add_argument("--spins", type=int, help="GOMP_SPINCOUNT; else ours")
    parser.add_argument("--run", choices=["loop", "train"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run == "loop":
        return keep_busy(asked.limit)
    if asked.run == "train":
        return train(asked.dataset, asked.epochs, asked.limit)
    asked.dataset = asked.dataset or (DATASET if registered_path(DATASET) else "sample")
    load = os.getloadavg()[0]
    print(f"{asked.dataset}, {usable_cores()} usable cores, load {load:.1f} before we began")
    idle = None
    for name, (neighbours, most) in CASES.items():
        seconds = measured(neighbours, asked)
        idle = idle or seconds
        ratio = seconds / idle
        verdict = "" if not neighbours else "within" if ratio <= most else "ABOVE"
        told = f"{verdict} {most:g}" if verdict else ""
        print(f"{name:30} {seconds:8.3f} s an epoch   x {ratio:5.2f}  {told}", flush=True)
    return None


if __name__ == "__main__":
    main()
