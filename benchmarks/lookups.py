"""Look-ups: how long a new message, and a batch of them, takes against a memory.

python benchmarks/lookups.py [--messages 26000] [--width 256]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from apart import seconds
from eventide.graphs.memory import Memory
from generated import GeneratedGraph, generate


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
    """One view: build, sums, 200 single look-ups and one batch."""
    start = time.process_time()
    memory = Memory(known.views[name], known.times)
    built = time.process_time() - start
    sums = memory.sums(torch.ones(len(memory), width))
    own, rates = torch.ones(len(new.times), width), torch.linspace(-1, 1, len(new.times))
    singles = []
    for row in range(200):
        one = slice(row, row + 1)
        message = new.views[name].take(np.array([row])).compact()
        start = time.process_time()
        memory.lookup(message, new.times[one]).average(sums, own[one], rates[one])
        singles.append(1e3 * (time.process_time() - start))

    def batch() -> torch.Tensor:
        return memory.lookup(new.views[name], new.times).average(sums, own, rates)

    print(
        f"{name:8} memory of {len(memory):,}: build {built:.2f} s, {len(sums.sums):,} bucket rows; "
        f"one message {np.median(singles):.2f} ms (worst {max(singles):.2f}), "
        f"{len(own):,} messages {1e3 * seconds(batch)['cpu']:.0f} ms (processor time)"
    )


if __name__ == "__main__":
    main()
