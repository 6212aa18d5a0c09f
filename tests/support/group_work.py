"""A worker of a group of two: trains several models, keeps gradients, weights and what it held."""

import os
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
from torch import distributed

from eventide import EventClassifier
from eventide.runners import shared_runner
from eventide.runners.runner import survives_half_precision
from eventide.runtime.share import Share, shared_by

TINY = {
    "encoder": "tfidf-svd:8",
    "training__epochs": 2,
    "training__least_steps": 0,
    "training__epoch_steps": 1,
    "training__batch_size": 64,
    "network__dropout": 0.4,
    "network__head_dropout": 0.3,
}
CASES = {
    "default": {"network__layers": [16, 12]},
    "without-dropout": {
        "method": "ucl-ec",
        "network__layers": [16, 12],
        "network__dropout": 0.0,
        "network__head_dropout": 0.0,
    },
    "drawn-twice": {
        "method": "bcl",
        "training__sampler": "class-balanced",
        "network__layers": [16, 12],
    },
    "own-prototypes": {
        "method": "ucl-ec",
        "network__layers": [16, 12],
        "network__classifier": "prototypes",
        "loss__prototypes": "classifier",
    },
    "every-step": {
        "method": "ucl-ec",
        "network__layers": [16, 12],
        "training__layer1_refresh": 1,
    },
    "new": {"method": "ucl", "protocol": "inductive", "network__layers": [16, 12]},
    "one-layer": {"method": "ce", "network__layers": [12]},
    "three-layers": {
        "method": "ucl-ec+cb",
        "network__layers": [12, 12, 8],
        "training__layer1_refresh": 3,
    },
    "phases": {"method": "tsc", "network__layers": [12, 8]},
    "tiny-batches": {
        "method": "ucl-ec",
        "network__layers": [12, 8],
        "training__batch_size": 1,
        "training__epochs": 1,
    },
}
"""Names of cases, and what is changed for each."""

HALF = {
    "half-precision": {
        "method": "ucl-ec",
        "network__layers": [16, 12],
        "training__mixed_precision": True,
    }
}
"""A case whose products are rounded to 8 bits, in another order by several workers."""


def trained(case: str, share: Share, messages: pl.DataFrame) -> dict[str, np.ndarray]:
    """Train one case as a worker with this share; give the first gradients and the last weights."""
    found: dict[str, np.ndarray] = {}
    largest = [0]
    if case == "tiny-batches":  # a batch of one message leaves the other worker without any
        messages = messages.filter(pl.int_range(pl.len()).over("event", "split") < 5)
    complete, average = Share.add_up_gradients, shared_runner.BatchShare.average

    def kept(self, divided, same):
        complete(self, divided, same)
        for part, module in (("network", divided), ("objective", same)):
            for name, weight in module.named_parameters():
                if weight.grad is not None and f"gradient.{part}.{name}" not in found:
                    found[f"gradient.{part}.{name}"] = weight.grad.numpy().copy()

    def measured(self, states, rates):
        largest[0] = max(largest[0], len(states), self.singles)
        return average(self, states, rates)

    Share.add_up_gradients, shared_runner.BatchShare.average = kept, measured
    shared_runner.CHUNK = 4 if case == "tiny-batches" else 32
    try:
        with shared_by(share):
            model = EventClassifier(**TINY | (CASES | HALF)[case]).fit(messages)
    finally:
        Share.add_up_gradients, shared_runner.BatchShare.average = complete, average
    found |= {f"weights.{name}": value for name, value in model.method_.state().items()}
    found["scores"] = np.array(
        [
            [row["total"], row["validation_accuracy"], row["validation_nll"]]
            for row in model.history_
        ]
    )
    found["held"] = np.array([largest[0], len(model.memory_)])
    return found


def run(rank: int, folder: str) -> None:
    """Be worker ``rank`` of two."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    place = Path(folder)
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{place / 'meeting'}",
        rank=rank,
        world_size=2,
        timeout=timedelta(minutes=5),
    )
    messages = pl.read_parquet(place / "messages.parquet")
    for case in CASES | (HALF if survives_half_precision() else {}):
        np.savez(place / f"{case}-{rank}.npz", **trained(case, Share(rank, 2), messages))
    distributed.destroy_process_group()
