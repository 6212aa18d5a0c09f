"""What an update costs, beside assigning the same messages; and what five labels teach.

    python benchmarks/updating.py --epochs 10

Prints the seconds to assign messages twice, to remember them, and to make the memory ready again
(its hidden states are computed when they are next needed); the largest difference between joining
in batches and at once; accuracy on older events and on a new one after 5, 20 and 50 labels.
"""

from __future__ import annotations

import argparse
import copy
import time

import numpy as np
import polars as pl

from eventide.data.sample import sample
from eventide.model import EventClassifier


def timed(work):
    """Return what ``work`` returns, and the processor's seconds it took."""
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--encoder", default="wordllama+tfidf-svd")
    parser.add_argument("--batches", type=int, default=10)
    given = parser.parse_args()
    messages = sample()
    sizes = messages["event"].value_counts().sort("count", "event", descending=True)
    unseen = sizes["event"][3]
    known = messages.filter((pl.col("event") != unseen) & (pl.col("split") != "test"))
    new = messages.filter(pl.col("event") == unseen).drop("split")
    tested = messages.filter((pl.col("event") != unseen) & (pl.col("split") == "test"))
    model = EventClassifier(encoder=given.encoder, training__epochs=given.epochs).fit(known)

    fresh = known.head(1000).with_columns(
        pl.col("id") + "-again", pl.lit(None, dtype=pl.String).alias("event")
    )
    model.opinions(tested)  # what is made once is there
    _, twice = timed(lambda: [model.opinions(fresh) for _ in range(2)])
    once = copy.deepcopy(model)
    _, joined = timed(lambda: once.update(fresh))
    _, ready = timed(once.method_.memory_states)
    print(
        f"{len(fresh)} messages: assigned twice {twice:.2f} s, remembered {joined:.2f} s,", end=""
    )
    print(f" states of {len(once.memory_)} messages {ready:.2f} s")

    batches = copy.deepcopy(model)
    parts = np.array_split(np.arange(len(fresh)), given.batches)
    seconds = [timed(lambda part=part: batches.update(fresh[part]))[1] for part in parts]
    apart = np.abs(once.predict_proba(tested) - batches.predict_proba(tested)).max()
    print(f"{given.batches} batches and one: apart by {apart:.1e}; first batch {seconds[0]:.2f} s,")
    print(f"  last {seconds[-1]:.2f} s")

    print(f"older events before: {model.score(tested):.3f}")
    for labels in (5, 20, 50):
        for steps in (0, 20):
            learning = copy.deepcopy(model)
            _, took = timed(lambda one=learning, n=labels, s=steps: one.update(new[:n], steps=s))
            print(f"{labels:3d} labels, {steps:2d} steps: {took:.1f} s, ", end="")
            print(f"new event {learning.score(new[60:]):.3f}, older {learning.score(tested):.3f}")


if __name__ == "__main__":
    main()
