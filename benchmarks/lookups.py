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
from generated import generate


def main() -> None:
    """Time the build, the sums, single look-ups and batches; print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=26_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    known, new = generate(asked.messages), generate(5_000, seed=1)
    for name, view in known.views.items():
        start = time.process_time()
        memory = Memory(view, known.times)
        built = time.process_time() - start
        values = torch.ones(len(view), asked.width)
        with torch.no_grad():
            sums = memory.sums(values)
            own, rates = torch.ones(5_000, asked.width), torch.linspace(-1, 1, 5_000)
            singles = []
            for row in range(200):
                one = slice(row, row + 1)
                message = new.views[name].take(np.array([row])).compact()
                start = time.process_time()
                memory.lookup(message, new.times[one]).average(sums, own[one], rates[one])
                singles.append(time.process_time() - start)
            batch = seconds(
                lambda memory=memory, view=new.views[name]: memory.lookup(view, new.times).average(
                    sums, own, rates
                )
            )
        print(
            f"{name:8} memory of {len(view):,}: build {built:.2f} s, bucket rows {len(sums.sums):,}; "
            f"one message {np.median(singles) * 1e3:.2f} ms (worst {max(singles) * 1e3:.2f}), "
            f"5,000 messages {batch['cpu'] * 1e3:.0f} ms (processor time)"
        )


if __name__ == "__main__":
    main()
