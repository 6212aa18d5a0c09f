"""How fast is ``assign``? Messages a second from a file, and the wait for one message alone.

    python benchmarks/assigning.py
    python benchmarks/assigning.py --messages 200000 --alone 0
    python benchmarks/assigning.py --dataset crisislex-t7 --dataset crisislex-lt28

A model of a few epochs is trained on the built-in sample (and on each data set named), then

- ``eventide assign MODEL FILE`` is run as a program of its own on generated messages that the model
  has not seen, so that starting Python, loading the model and writing all opinions count: on one
  message (the start-up), on a tenth of ``--messages`` and on all of them, with the peak memory of
  all its processes, which should hardly grow; and
- with the model loaded, messages are predicted one at a time, each as a list of one dict.

The time of the processor stands beside the time of the clock: on a busy machine only the first
says what the program needs (it counts both cores, so it can exceed the clock).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from apart import Watched, watched
from eventide.data import read
from eventide.data.sample import sample
from eventide.model import EventClassifier, load_model

WARM_UP = 20


def new_messages(count: int) -> pl.DataFrame:
    """Generate messages from seeds that no model was trained on."""
    parts: list[pl.DataFrame] = []
    while sum(map(len, parts)) < count:
        seed = 1 + len(parts)
        part = sample(seed).select("id", "text", "created_at", "user")
        parts.append(part.with_columns(pl.col("id") + f"-{seed}"))
    return pl.concat(parts).head(count)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what ``work`` returns, the seconds on the clock and those of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - clock, time.process_time() - processor


def end_to_end(model: Path, messages: pl.DataFrame, folder: Path) -> Watched:
    """Run the command on a file of these messages."""
    file, out = folder / f"new-{len(messages)}.jsonl", folder / f"opinions-{len(messages)}.jsonl"
    messages.write_ndjson(file)
    words = ["assign", str(model), str(file), "--out", str(out), "--overwrite"]
    return watched([sys.executable, "-m", "eventide", *words])


def show_end_to_end(model: Path, messages: pl.DataFrame, folder: Path) -> None:
    """Print the seconds of start-up, messages a second, and the peak memory of two sizes."""
    start = end_to_end(model, messages.head(1), folder)
    print(f"  start-up, 1 message: {start.wall:.2f} s (processor {start.cpu:.2f} s)")
    sizes = (max(len(messages) // 10, 1), len(messages))
    runs = [end_to_end(model, messages.head(size), folder) for size in sizes]
    for size, run in zip(sizes, runs, strict=True):
        print(
            f"  assign {size:,} messages from a file: {run.wall:.1f} s, "
            f"{size / run.wall:,.0f} a second (processor {run.cpu:.1f} s)"
        )
        print(
            f"    peak memory {run.together:,.0f} MiB in all its processes, "
            f"{run.largest:,.0f} MiB in the largest"
        )
    few, many = runs
    print(
        f"  peak memory of {sizes[1]:,} over {sizes[0]:,} messages: "
        f"{many.together / few.together:.2f} in all processes, "
        f"{many.largest / few.largest:.2f} in the largest"
    )


def one_at_a_time(model: EventClassifier, messages: pl.DataFrame) -> list[tuple[float, float]]:
    """Predict each message alone; return the seconds each took, by clock and by processor."""
    records = messages.to_dicts()
    spent = [timed(lambda record=record: model.opinions([record]))[1:] for record in records]
    return spent[WARM_UP:]


def report(name: str, epochs: int, messages: pl.DataFrame, alone: int, folder: Path) -> None:
    """Train on one data set and print how fast it assigns."""
    training = sample() if name == "sample" else read(name).messages
    model_path = folder / name
    EventClassifier(training__epochs=epochs).fit(training).save(model_path)
    print(f"{name}: a memory of {len(training):,} messages")
    show_end_to_end(model_path, messages, folder)
    model, clock, processor = timed(lambda: load_model(model_path))
    print(f"  load: {clock:.2f} s (processor {processor:.2f} s)")
    first = messages.head(1).to_dicts()
    _, clock, processor = timed(lambda: model.opinions(first))
    print(f"  first message: {clock:.2f} s (processor {processor:.2f} s)")
    if not alone:
        return
    spent = np.array(one_at_a_time(model, messages.tail(WARM_UP + alone))) * 1000
    for column, kind in enumerate(("clock", "processor")):
        middle, high, highest = np.percentile(spent[:, column], [50, 95, 99])
        print(f"  one alone, {kind}: p50 {middle:.1f}, p95 {high:.1f}, p99 {highest:.1f} ms")


def main() -> None:
    """Read the arguments and report on every data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", action="append", default=[], help="also train on this one")
    parser.add_argument("--messages", type=int, default=20_000, help="new messages in the file")
    parser.add_argument("--alone", type=int, default=500, help="messages predicted one at a time")
    parser.add_argument("--epochs", type=int, default=2, help="epochs of training")
    arguments = parser.parse_args()
    messages = new_messages(arguments.messages)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sample", *arguments.dataset):
            report(name, arguments.epochs, messages, arguments.alone, Path(folder))


if __name__ == "__main__":
    main()
