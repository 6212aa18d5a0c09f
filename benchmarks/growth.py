"""Growth: ten times the messages, a hundred times the edges; and a million with one hashtag.

    python benchmarks/growth.py [--threads 1]

Every size runs in a process of its own. An exponent of 1 means linear. Two invented graphs: in the
*trending* one every element is used every day already, so that more messages mean more popularity
and nothing else; in the *long-tail* one rare elements fill more and more days, so that the number
of (message, day) pairs with a neighbour, all of which an exact average must weigh, grows faster
than the messages: that exponent, printed as "weighed", is a floor for any exact method.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
import torch

from apart import report, run_apart, seconds
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.runtime.own_process import kept_memory, make_own
from eventide.runtime.single_precision import quick_products
from generated import LONG_TAIL, TRENDING, GeneratedGraph, generate, one_hashtag

SIZES = (20_000, 63_000, 200_000)
SERIES = {
    "trending": (SIZES, 64),
    "trending, wide": (SIZES, 256),
    "long-tail": (SIZES, 256),
    "one hashtag, forward only": ((100_000, 1_000_000), 64),
}


def graph_of(series: str, messages: int) -> GeneratedGraph:
    """Invent the graph of a series."""
    if series.startswith("one hashtag"):
        return one_hashtag(messages)
    recipes = TRENDING if series.startswith("trending") else LONG_TAIL
    return generate(messages, recipes=recipes)


def measure(series: str, messages: int, width: int) -> None:
    """Build; then forward and backward (forward alone for the clique)."""
    graph = graph_of(series, messages)
    train = not series.endswith("forward only")
    random = torch.Generator().manual_seed(0)
    values = torch.randn(messages, width, generator=random, requires_grad=train)
    rates = (torch.randn(messages, generator=random) * 0.2).requires_grad_(train)
    start = time.process_time()
    around = [BucketedNeighbourhood(view, graph.times) for view in graph.views.values()]
    built = time.process_time() - start

    def step() -> None:
        for each in around:
            out = each.average(values, rates)
            if train:
                torch.autograd.grad(out, (values, rates), out.detach())

    make_own()
    with kept_memory(), quick_products():  # as in training
        spent = seconds(step, warm=1 if train else 0)
    edges = sum(each.bucket_index.edges for each in around)
    reads = sum(each.bucket_index.entries for each in around)
    report(
        messages=messages,
        built=built,
        edges=edges,
        reads=reads,
        weighed=sum(weighed(each) for each in around),
        **spent,
    )


def weighed(around: BucketedNeighbourhood) -> int:
    """Count the (message, day) pairs with at least one neighbour."""
    readers = around.bucket_index.readers
    return int(np.diff(readers.reads.counts.pointers)[readers.profile].sum())


def main() -> None:
    """Run all series and print figures and exponents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", type=int, help="measure this size here")
    parser.add_argument("--series", choices=SERIES)
    asked = parser.parse_args()
    if asked.one:
        torch.set_num_threads(asked.threads)
        measure(asked.series, asked.one, SERIES[asked.series][1])
        return
    for series in SERIES if asked.series is None else [asked.series]:
        show(series, asked.threads)


def show(series: str, threads: int) -> None:
    """Run the sizes of a series and print their figures and exponents."""
    sizes, width = SERIES[series]
    print(f"{series}, {width} dims, {threads} thread(s)")
    head = ("messages", "edges", "weighed", "reads", "build cpu s", "wall s", "cpu s", "peak MB")
    print("".join(f"{word:>18}" for word in head))
    rows = []
    for size in sizes:
        shared = [f"--one={size}", f"--series={series}", f"--threads={threads}"]
        row = run_apart(__file__, shared, threads)
        rows.append(row)
        print(
            f"{size:18,}{row['edges']:18,}{row['weighed']:18,}{row['reads']:18,}"
            f"{row['built']:18.2f}{row['wall']:18.3f}{row['cpu']:18.3f}{row['peak_mb']:18,}"
        )
    grown = math.log(sizes[-1] / sizes[0])
    found = (
        f"{name} {math.log(rows[-1][name] / rows[0][name]) / grown:.2f}"
        for name in ("edges", "weighed", "reads", "built", "wall", "cpu", "peak_mb")
    )
    print(f"  exponents {sizes[0]:,} -> {sizes[-1]:,}: {', '.join(found)}\n")


if __name__ == "__main__":
    main()
