"""Forward and backward of one attention layer: buckets against explicit edges.

    python benchmarks/neighbourhoods.py [--messages 20000] [--width 256] [--threads 1]

Every variant runs in a process of its own, with the same threads, on the same graph. View by
view, all messages, gradients to values and rates.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

from apart import report, run_apart, seconds
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.testing.explicit_graphs import ExplicitNeighbourhood
from generated import generate
from rivals import Edges, scatter_step, sparse_step

CONTESTANTS = ("buckets", "sparse-torch", "sparse-scipy", "gather-scatter")


def compete(variant: str, messages: int, width: int, repeats: int) -> None:
    """Build the views and time forward + backward over all of them."""
    graph = generate(messages)
    random = torch.Generator().manual_seed(0)
    values = torch.randn(messages, width, generator=random)
    back = torch.randn(messages, width, generator=random)
    rates = torch.randn(messages, generator=random) * 0.2
    start = time.perf_counter()
    if variant == "buckets":
        around = [BucketedNeighbourhood(view, graph.times) for view in graph.views.values()]
        edges = sum(each.bucket_index.edges for each in around)
        entries = sum(each.bucket_index.entries for each in around)
    else:
        around = [Edges(ExplicitNeighbourhood(view, graph.times)) for view in graph.views.values()]
        edges = entries = sum(len(each.targets) for each in around)
    built = time.perf_counter() - start

    def step() -> list[tuple[torch.Tensor, ...]]:
        return [layer(variant, each, values, rates, back) for each in around]

    slow = variant == "gather-scatter"
    spent = seconds(step, repeats=1 if slow else repeats, warm=0 if slow else 2)
    sums = [sum(float(view[part].double().norm()) for view in step()) for part in range(3)]
    report(built=built, **spent, edges=edges, entries=entries, sums=sums)


def layer(
    variant: str, around: Any, values: torch.Tensor, rates: torch.Tensor, back: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """One view: the averages and the gradients of values and rates."""
    if variant == "buckets":
        inputs = values.requires_grad_(), rates.requires_grad_()
        out = around.average(*inputs)
        return (out.detach(), *torch.autograd.grad(out, inputs, back))
    if variant == "gather-scatter":
        return scatter_step(around, values, rates, back)
    return sparse_step(around, values, rates, back, variant.split("-")[1])


def main() -> None:
    """Let all variants run and print their figures and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--one", choices=CONTESTANTS, help="run this variant here")
    asked = parser.parse_args()
    if asked.one:
        torch.set_num_threads(asked.threads)
        compete(asked.one, asked.messages, asked.width, asked.repeats)
        return
    shared = [
        f"--{name}={getattr(asked, name)}" for name in ("messages", "width", "threads", "repeats")
    ]
    found = {}
    print(f"{asked.messages} messages, 3 views, {asked.width} dims, {asked.threads} thread(s)")
    head = ("reads", "build s", "wall s", "cpu s", "peak MB", "ratio")
    print(f"{'':16}" + "".join(f"{word:>12}" for word in head))
    for name in CONTESTANTS:
        figures = found[name] = run_apart(__file__, ["--one", name, *shared], asked.threads)
        ratio = figures["wall"] / found["buckets"]["wall"]
        print(
            f"{name:16}{figures['entries']:12,}{figures['built']:12.2f}{figures['wall']:12.3f}"
            f"{figures['cpu']:12.3f}{figures['peak_mb']:12,}{ratio:12.1f}"
        )
    pairs = zip(found["buckets"]["sums"], found["sparse-torch"]["sums"], strict=True)
    apart = max(abs(ours / theirs - 1) for ours, theirs in pairs)
    print(f"implied edges {found['buckets']['edges']:,}; norms of results agree to {apart:.0e}")
    for clock in ("wall", "cpu"):
        ours = found["buckets"][clock]
        sparse = min(found[name][clock] for name in ("sparse-torch", "sparse-scipy"))
        scatter = found["gather-scatter"][clock]
        print(
            f"by {clock} seconds: {sparse / ours:.1f}x faster than explicit sparse products "
            f"(wanted 8), {scatter / ours:.0f}x faster than gather/scatter (wanted 100)"
        )


if __name__ == "__main__":
    main()
