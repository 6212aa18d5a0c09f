"""Look-ups: how long a new message, and a batch of them, takes against a memory.

    python benchmarks/lookups.py [--messages 26000] [--width 256]

A few messages are looked up one by one, many by a common plan; where the second way becomes the
quicker one is where `eventide.graphs.exact.small_batch_lookup.SMALL_BATCH` belongs.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np
import torch

from apart import seconds
from eventide.graphs import memory as memories
from eventide.graphs.incidence import Incidence
from eventide.graphs.memory import Memory
from generated import GeneratedGraph, generate

FEW = (1, 2, 4, 8, 16)


def main() -> None:
    """Time the build, the sums, single look-ups and batches; print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=26_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    known, new = generate(asked.messages), generate(5_000, seed=1)
    with torch.no_grad():
        for name in known.views:
            measure(name, known, new, asked.width)


def measure(name: str, known: GeneratedGraph, new: GeneratedGraph, width: int) -> None:
    """One view: build, sums, one large batch and small ones both ways (processor time)."""
    start = time.process_time()
    memory = Memory(known.views[name], known.times)
    built = time.process_time() - start
    sums = memory.sums(torch.ones(len(memory), width))
    own, rates = torch.ones(len(new.times), width), torch.linspace(-1, 1, len(new.times))
    every = np.arange(len(new.times))

    def look_up(some: Incidence, rows: np.ndarray) -> None:
        memory.lookup(some, new.times[rows]).average(sums, own[rows], rates[rows])

    def milliseconds(count: int) -> float:
        spent = []
        for rows in np.split(every[: 50 * count], 50):
            some = new.views[name].take(rows).compact()
            spent.append(seconds(partial(look_up, some, rows), repeats=1, warm=0)["cpu"])
        return 1e3 * float(np.median(spent))

    large = seconds(partial(look_up, new.views[name], every))["cpu"]
    print(
        f"{name:8} memory of {len(memory):,}: build {built:.2f} s, {len(sums.sums):,} bucket rows; "
        f"{len(own):,} messages {1e3 * large:.0f} ms"
    )
    usual = memories.SMALL_BATCH
    for count in FEW:
        ways = []
        for memories.SMALL_BATCH in (count, 0):
            ways.append(milliseconds(count))
        print(f"  {count:3} at once: one by one {ways[0]:.2f} ms, planned {ways[1]:.2f} ms")
    memories.SMALL_BATCH = usual


if __name__ == "__main__":
    main()
