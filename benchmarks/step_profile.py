"""Where the time and the memory of training steps go, at the paper's sizes.

    python benchmarks/step_profile.py                              # 20,000 messages
    python benchmarks/step_profile.py --messages 1000000 --steps 3

Two kinds of steps, as in ``training.py``: one in which all layers learn, and one inside a round,
which reads the hidden states that its round shares. Processor milliseconds of one thread, by what
is computed; then the memory after each stage. The profiler itself takes a few per cent.
"""

from __future__ import annotations

import argparse
import resource
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile, record_function

from eventide.graphs.exact import attention, gather_schedule, shared_states
from eventide.graphs.exact.bucket_index import Readers
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.total import total_loss
from eventide.networks.encoder import SharedEncoder
from eventide.networks.heads import EvidenceHead
from eventide.runners.runner import NOBODY
from eventide.runtime.own_process import kept_memory, make_own
from eventide.runtime.single_precision import quick_products
from eventide.training.batches import Ints, in_rounds
from eventide.training.settings import TrainingSettings
from training import invented, method_on

BACKWARD = "autograd::engine::evaluate_function: "
AVERAGING = ("_AverageValuesBackward", "_AverageSumsBackward", "_ReadAroundBackward")
LINEAR = ("MmBackward0", "AddmmBackward0", "TBackward0")
REGIONS: list[tuple[Any, str, str]] = [
    (SharedEncoder, "project", "linear map of layer 1"),
    (attention, "read", "averages"),
    (Readers, "only", "planning"),
    (gather_schedule, "schedule", "planning"),
    (shared_states, "read_with_slopes", "averages"),
    (EvidenceHead, "forward", "heads"),
]


def memory() -> float:
    """Gigabytes of this process now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**30


def timed(work: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same function, as a region of the profile."""

    @wraps(work)
    def inner(*given: Any, **named: Any) -> Any:
        with record_function(f"region: {name}"):
            return work(*given, **named)

    return inner


def table(found: Any, steps: int) -> dict[str, float]:
    """Milliseconds a step by what is computed; the rest is what no region covers."""
    spent: dict[str, float] = defaultdict(float)
    for event in found.key_averages():
        milliseconds = event.cpu_time_total / 1000 / steps
        if event.key.startswith("region: "):
            spent[event.key.removeprefix("region: ")] += milliseconds
        elif event.key.startswith(BACKWARD):
            node = event.key.removeprefix(BACKWARD)
            kind = "averages" if node in AVERAGING else "linear maps" if node in LINEAR else "rest"
            spent[f"backward: {kind}"] += milliseconds
    return {name: value for name, value in spent.items() if value >= 0.05}


def main() -> None:
    """Profile both kinds of steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=5)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    make_own()
    training_set = invented(asked.messages)
    stages = {"messages and features": memory()}
    method = method_on(training_set, "buckets")
    runner, objective = method.runner, method.objective
    rows, labels = training_set.training_rows, torch.from_numpy(training_set.labels)
    optimiser = torch.optim.Adam(runner.network.parameters(), lr=1e-3)
    size, random = method.settings.training.batch_size, np.random.default_rng(0)
    with kept_memory(len(training_set.corpus)), quick_products():
        objective.observe(runner.evaluate(rows[:size]), labels[rows[:size]], 0)
        stages["with the bucket index"] = memory()

        def step(batch: Ints, ahead: Ints) -> None:
            with record_function("region: forward"):
                outputs = runner.learn(batch, ahead=ahead)
            with record_function("region: opinions and losses"):
                fused = objective.reader.fuse(objective.reader.opinions(outputs))
                given = LossInputs(outputs, fused, labels[batch], objective.statistics, 1)
                terms = {name: term(given) for name, term in objective.terms.items()}
                loss = total_loss(terms, objective.weights(1))
            optimiser.zero_grad(set_to_none=True)
            with record_function("region: backward"):
                loss.backward()
            with record_function("region: optimiser"):
                optimiser.step()

        found = {}
        with ExitStack() as stack:
            for owner, name, region in REGIONS:
                stack.enter_context(patch.object(owner, name, timed(getattr(owner, name), region)))
            for kind, alone in (("all layers learn", True), ("inside a round", False)):
                chosen = TrainingSettings(layer1_refresh=1 if alone else asked.steps + 2)
                batches = np.resize(random.permutation(rows), (asked.steps + 2, size))
                first, *some, (end, _) = in_rounds(batches, chosen)
                step(*first)  # sets things up
                stages[f"after a step: {kind}"] = memory()
                with profile(activities=[ProfilerActivity.CPU]) as profiled:
                    for each in some:
                        step(*each)
                found[kind] = table(profiled, asked.steps)
                step(end, NOBODY)
    names = sorted({name for each in found.values() for name in each})
    print(f"{asked.messages:,} messages, batches of {size:,}, milliseconds of one thread")
    print(f"{'':28}" + "".join(f"{kind:>20}" for kind in found))
    for name in names:
        print(f"{name:28}" + "".join(f"{each.get(name, 0):20.1f}" for each in found.values()))
    print("\nmemory in GB")
    for stage, value in stages.items():
        print(f"{stage:44}{value:8.2f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'peak, a round that ends included':44}{peak:8.2f}")


if __name__ == "__main__":
    main()
