"""What an update costs, beside assigning the same messages; and what five labels teach.

    python benchmarks/updating.py --epochs 10

Prints the seconds to assign messages twice, to remember them, and to make the memory ready again
(its hidden states are computed when they are next needed); the largest difference between joining
in batches and at once; accuracy on older events and on a new one after 5, 20 and 50 labels.

    python benchmarks/updating.py --daily 2000 50000

prints what 100 daily batches take beside memories of these sizes with ``graph.earlier_only``: the
median of the first ten and of the last ten, the slowest, and what assigning the same messages takes
before; then how far predictions are from those of a memory built at once.
"""

from __future__ import annotations

import argparse
import copy
import time

import numpy as np
import polars as pl

from eventide.data.sample import sample
from eventide.methods import METHODS
from eventide.methods.warm_start import STEPS
from eventide.model import EventClassifier


def timed(work):
    """Return what ``work`` returns, and the processor's seconds it took."""
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def repeated(messages, count, *, first_day, days, name):
    """Invent unlabelled messages from others: their texts and authors again, on other days."""
    at = np.arange(count) % len(messages)
    day = first_day + np.arange(count) * days // count
    start = messages["created_at"].min()
    return messages[at].with_columns(
        pl.Series("id", [f"{name}-{row}" for row in range(count)]),
        pl.lit(None, dtype=pl.String).alias("event"),
        (pl.lit(start) + pl.duration(days=pl.Series(day))).alias("created_at"),
    )


def daily(messages, sizes, encoder):
    """Time daily batches beside small and large memories of the same model."""
    labelled = messages.drop("split")[:1000]
    options = {"training__epochs": 2, "graph__earlier_only": True}
    for size in sizes:
        model = EventClassifier(encoder=encoder, **options).fit(labelled)
        days = max(1, size // 100)
        older = repeated(messages, size - len(labelled), first_day=40, days=days, name="older")
        model.update(older.drop("split"))
        model.method_.memory_states()
        batches = repeated(messages, 100 * 100, first_day=50 + days, days=100, name="new")
        parts = [batches[100 * day : 100 * day + 100].drop("split") for day in range(100)]
        asked = messages.drop("split").with_columns(pl.lit(batches["created_at"].max()))
        asked = asked.with_columns(pl.col("created_at").dt.offset_by("2d"), pl.col("id") + "-x")
        model.opinions(parts[0])
        _, assigned = timed(lambda one=model, part=parts[0]: one.opinions(part))
        once = copy.deepcopy(model)
        reports = [timed(lambda one=model, part=part: one.update(part)) for part in parts]
        seconds = [took for _, took in reports]
        kept = {report.states for report, _ in reports}
        once.update(pl.concat(parts))
        method = METHODS.load(once.method)(once.settings_, once.seed)
        method.restore(once.method_.state(), once.memory_)  # without any state
        corpus = once.featuriser_.prepare(once.intake(asked).messages)
        said = [each.predict_new(corpus).probability for each in (model.method_, method)]
        print(f"memory of {size:,}: 100 daily batches of 100, states {', '.join(kept)}: ", end="")
        print(f"first ten {np.median(seconds[:10]):.3f} s, ", end="")
        print(f"last ten {np.median(seconds[-10:]):.3f} s, slowest {max(seconds):.3f} s;")
        print(f"  assigning a batch {assigned:.3f} s; from a memory built at once: ", end="")
        print(f"{np.abs(said[0] - said[1]).max():.1e}", flush=True)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--encoder", default="wordllama+tfidf-svd")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--daily", type=int, nargs="*", metavar="MEMORY")
    given = parser.parse_args()
    messages = sample()
    if given.daily is not None:
        daily(messages, given.daily or [2_000, 50_000], given.encoder)
        return
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
        for steps in (0, STEPS):
            learning = copy.deepcopy(model)
            _, took = timed(lambda one=learning, n=labels, s=steps: one.update(new[:n], steps=s))
            print(f"{labels:3d} labels, {steps:2d} steps: {took:.1f} s, ", end="")
            print(f"new event {learning.score(new[60:]):.3f}, older {learning.score(tested):.3f}")


if __name__ == "__main__":
    main()
