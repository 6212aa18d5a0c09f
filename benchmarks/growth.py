"""Growth: ten times the messages, a hundred times the edges; and a million with one hashtag.

    python benchmarks/growth.py [--width 256] [--threads 1]

Every size runs in a process of its own. An exponent of 1 means linear.
"""

from __future__ import annotations

import argparse
import math
import time

import torch

from apart import report, run_apart, seconds
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from generated import generate, one_hashtag

SIZES = (20_000, 63_000, 200_000)
CLIQUES = (100_000, 1_000_000)


def measure(messages: int, width: int, clique: bool) -> None:
    """Build; then forward and backward (forward alone for the clique)."""
    graph = one_hashtag(messages) if clique else generate(messages)
    random = torch.Generator().manual_seed(0)
    values = torch.randn(messages, width, generator=random, requires_grad=not clique)
    rates = (torch.randn(messages, generator=random) * 0.2).requires_grad_(not clique)
    start = time.process_time()
    around = [BucketedNeighbourhood(view, graph.times) for view in graph.views.values()]
    built = time.process_time() - start

    def step() -> None:
        for each in around:
            out = each.average(values, rates)
            if not clique:
                torch.autograd.grad(out, (values, rates), out.detach())

    spent = seconds(step, warm=0 if clique else 1)
    edges = sum(each.layout.edges for each in around)
    entries = sum(each.layout.entries for each in around)
    report(messages=messages, built=built, edges=edges, entries=entries, **spent)


def main() -> None:
    """Run all sizes and print figures and exponents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", type=int, help="measure this size here")
    parser.add_argument("--clique", action="store_true")
    asked = parser.parse_args()
    if asked.one:
        torch.set_num_threads(asked.threads)
        measure(asked.one, asked.width, asked.clique)
        return
    _series("generated, forward + backward", SIZES, asked.width, asked.threads, [])
    _series("one hashtag, forward", CLIQUES, 64, asked.threads, ["--clique"])


def _series(title: str, sizes: tuple[int, ...], width: int, threads: int, more: list[str]) -> None:
    print(f"{title}, {width} dims, {threads} thread(s)")
    head = ("messages", "edges", "reads", "build cpu s", "wall s", "cpu s", "peak MB")
    print("".join(f"{word:>18}" for word in head))
    rows = []
    for size in sizes:
        shared = [f"--one={size}", f"--width={width}", f"--threads={threads}", *more]
        row = run_apart(__file__, shared, threads)
        rows.append(row)
        print(
            f"{size:18,}{row['edges']:18,}{row['entries']:18,}{row['built']:18.2f}"
            f"{row['wall']:18.3f}{row['cpu']:18.3f}{row['peak_mb']:18,}"
        )
    for first, last in {(0, len(rows) - 1), (len(rows) - 2, len(rows) - 1)}:
        grown = math.log(sizes[last] / sizes[first])
        found = (
            f"{name} {math.log(rows[last][name] / rows[first][name]) / grown:.2f}"
            for name in ("edges", "entries", "built", "wall", "cpu", "peak_mb")
        )
        print(f"  exponents {sizes[first]:,} -> {sizes[last]:,}: {', '.join(found)}")


if __name__ == "__main__":
    main()
