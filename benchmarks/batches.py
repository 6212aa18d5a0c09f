"""A training step's share: average around a batch of messages, forward and backward.

    python benchmarks/batches.py [--batch 1500] [--width 256] [--threads 1]

Every size runs in a process of its own. Planning is what numpy does for each new batch.
"""

from __future__ import annotations

import argparse

import torch

from apart import report, run_apart, seconds
from eventide.graphs.exact.gather_schedule import GatherSchedules
from eventide.graphs.exact.products import FixedMatrix
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from generated import generate

SIZES = (20_000, 200_000)


def measure(messages: int, batch: int, width: int) -> None:
    """Processor milliseconds of one call over all views, and of its parts."""
    graph = generate(messages)
    random = torch.Generator().manual_seed(0)
    values = torch.randn(messages, width, generator=random, requires_grad=True)
    rates = (torch.randn(batch, generator=random) * 0.2).requires_grad_()
    around = [BucketedNeighbourhood(view, graph.times) for view in graph.views.values()]
    constants = [each.constant(values) for each in around]

    def rows() -> torch.Tensor:
        return torch.randperm(messages, generator=random)[:batch]

    def call() -> None:
        for each in around:
            out = each.average(values, rates, rows())
            torch.autograd.grad(out, (values, rates), out.detach())

    def layer_one() -> None:
        for each in constants:
            out = each.average(rates, rows())
            torch.autograd.grad(out, rates, out.detach())

    def planning() -> None:
        for each in around:
            readers, buckets = each.bucket_index.readers.only(rows().numpy())
            FixedMatrix(each.bucket_index.members[buckets])
            list(GatherSchedules(readers, values.device))

    def forward() -> None:
        with torch.no_grad():
            for each in around:
                each.average(values, rates, rows())

    found = {
        work.__name__: 1e3 * seconds(work)["cpu"] for work in (call, forward, planning, layer_one)
    }
    report(**found)


def main() -> None:
    """Run all sizes and print milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=1_500)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", type=int, help="measure this size here")
    asked = parser.parse_args()
    if asked.one:
        torch.set_num_threads(asked.threads)
        measure(asked.one, asked.batch, asked.width)
        return
    print(f"batches of {asked.batch}, 3 views, {asked.width} dims, processor ms per call")
    shared = [f"--batch={asked.batch}", f"--width={asked.width}", f"--threads={asked.threads}"]
    for size in SIZES:
        row = run_apart(__file__, [f"--one={size}", *shared], asked.threads)
        print(
            f"{size:10,} messages: {row['call']:8.0f} forward and backward, {row['forward']:8.0f} "
            f"forward, of it {row['planning']:6.0f} planning; "
            f"constant values {row['layer_one']:6.0f}"
        )


if __name__ == "__main__":
    main()
