"""What several workers give, and what they need: on this machine, with processes of its own.

    python benchmarks/cluster.py assign             # one worker and two, messages a second
    python benchmarks/cluster.py assign --engine ray
    python benchmarks/cluster.py stream             # peak memory of small and large files
    python benchmarks/cluster.py train              # one worker and two, seconds an epoch
    python benchmarks/cluster.py memory             # memory per worker of a memory in shards

Efficiency is the speed of two workers over twice the speed of one, on the same cores: on a machine
where others work too it says little, so that the seconds of the processor stand beside it.
With ``--engine ray`` run it in a network of its own: Ray listens on all interfaces.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from assigning import new_messages
from eventide.cluster.assigner import AssignmentRequest
from eventide.cluster.assignment import Engine, assign_files
from eventide.cluster.distributed import launch_torchrun, run_folder
from eventide.cluster.partitions import FileReading
from eventide.cluster.shards import LocalShard, key_ranges
from eventide.cluster.train_worker import TrainingRequest
from eventide.data import read
from eventide.data.sample import sample
from eventide.model import EventClassifier
from generated import generate

MEBIBYTE = 1 << 20
WIDTH = 256
"""Width of the features and of the hidden states in ``memory``."""


def processor_seconds() -> float:
    """Return the seconds of the processor of this process and of those it waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def request_for(folder: Path, files: list[Path], out: str) -> AssignmentRequest:
    """Ask for opinions on files, from a model of a few epochs in ``folder``."""
    if not (folder / "model").exists():
        EventClassifier(training__epochs=3).fit(sample()).save(folder / "model")
    names = tuple(map(str, files))
    reading = FileReading({}, {}, ())
    return AssignmentRequest(str(folder / "model"), str(folder / out), names, reading, rows=5_000)


def assign(folder: Path, messages: int, engine: str | None) -> None:
    """Assign the same files with one worker and with two."""
    new_messages(messages).write_ndjson(folder / "new.jsonl")
    rates = {}
    for workers in (1, 2):
        request = request_for(folder, [folder / "new.jsonl"], f"out-{workers}")
        on: Engine | None = None
        if engine == "ray":
            from eventide.cluster.ray_assignment import ray_assignment
            from eventide.cluster.ray_session import RayOptions

            on = ray_assignment(RayOptions(object_store=200), workers)
        rates[workers] = one_assignment(request, workers, on)
    print(f"efficiency of two workers: {rates[2] / (2 * rates[1]):.2f}")


def one_assignment(request: AssignmentRequest, workers: int, engine: Engine | None) -> float:
    """Assign, print how fast, and return messages a second, once every worker has begun."""
    seen: list[tuple[float, int]] = []
    before = processor_seconds()
    assign_files(
        request,
        workers=workers,
        engine=engine,
        watch=lambda facts: seen.append((time.perf_counter(), facts.messages)),
    )
    used = processor_seconds() - before
    seconds = seen[-1][0] - seen[workers - 1][0]
    rate = sum(count for _, count in seen[workers:]) / seconds
    total = sum(count for _, count in seen)
    told = f"{workers} worker{'s' * (workers > 1)}: {rate:,.0f} messages a second"
    if engine is None:  # workers of Ray are not waited for
        told += f"; {total / used:,.0f} a second of the processor, starts included"
    print(told)
    return rate


PEAK = """
import sys, resource
from eventide.cli.main import main
sys.argv = ["eventide", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def stream(folder: Path, messages: int) -> None:
    """Print the peak memory of ``assign``: to one file, and to a folder, of files of two sizes."""
    for count in (messages // 10, messages):
        request_for(folder, [], "none")
        file = folder / f"new-{count}.jsonl"
        new_messages(count).write_ndjson(file)
        for out in (f"whole-{count}.parquet", f"parts-{count}"):
            words = ["assign", str(folder / "model"), str(file), "--out", str(folder / out)]
            more = [] if out.endswith(".parquet") else ["--workers", "1"]
            done = subprocess.run(
                [sys.executable, "-c", PEAK, *words, *more],
                capture_output=True,
                text=True,
                check=True,
            )
            how = "one file " if out.endswith(".parquet") else "in parts "
            peak = int(done.stderr.split()[-1])
            size = file.stat().st_size / MEBIBYTE
            print(f"{how} {count:>9,} messages ({size:,.0f} MiB): peak {peak:,} MiB")


def train(folder: Path, epochs: int) -> None:
    """Train the same model with one worker and with two."""
    intake = read(sample())
    model = EventClassifier(training__epochs=epochs, training__least_steps=0)
    fitted = model.fit(intake)
    one = sum(row["seconds"] for row in fitted.history_) / len(fitted.history_)
    rows: list[float] = []
    with run_folder(folder / "trained", intake) as place:
        request = TrainingRequest(str(place), model.plain_params(), str(folder / "trained"), None)
        launch_torchrun(request, 2, lambda row: rows.append(row["seconds"]))
    two = sum(rows) / len(rows)
    weights = sum(each.numel() for each in fitted.method_.runner.network.parameters())
    print(f"one worker:  {one:.2f} s an epoch of {len(intake.messages):,} messages")
    print(f"two workers: {two:.2f} s an epoch")
    print(f"efficiency of two workers: {one / (2 * two):.2f}")
    print(f"network, gradients: {weights * 4 / MEBIBYTE:.2f} MiB a step from and to each worker")
    batch = fitted.settings_.training.batch_size
    for view, around in fitted.method_.runner._set.neighbourhoods.items():
        index, width = around.bucket_index, fitted.settings_.network.layers[0]
        random = np.random.default_rng(0)
        some = random.choice(len(index), min(batch, len(index)), replace=False)
        readers, buckets = index.readers.only(some)
        read_rows = len(buckets) + len(np.unique(readers.reads.direct.messages))
        print(
            f"network, sums of {view}: {2 * read_rows * width * 4 / MEBIBYTE:.1f} MiB a step for a "
            f"batch of {len(some)}, {read_rows:,} of {len(index):,} rows"
        )


def memory(messages: int, shards: int) -> None:
    """Build a memory of invented messages in shards; print what one worker needs for its own."""
    graph = generate(messages)
    random = np.random.default_rng(1)
    ids = random.integers(0, 2**63, messages)
    rows = key_ranges(ids, shards)[0]
    states = torch.from_numpy(random.standard_normal((len(rows), WIDTH), dtype=np.float32))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, stored = time.perf_counter(), 0
    for incidence in graph.views.values():
        shard = LocalShard(
            incidence.take(rows).compact(), graph.times[rows], None, [states, states]
        )
        stored += shard.stored_bytes
        del shard
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"a memory of {messages:,} messages in {shards} shards: {len(rows):,} messages a worker, "
        f"{stored / MEBIBYTE:,.0f} MiB of values and sums in {len(graph.views)} views, "
        f"made in {time.perf_counter() - started:.0f} s"
    )
    print(
        f"peak of the process while it makes one view after the other: {peak / 1024:,.0f} MiB "
        f"({before / 1024:,.0f} MiB before, with the messages of all shards)"
    )
    print(f"per million messages: {stored / MEBIBYTE / len(rows) * 1e6:,.0f} MiB")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["assign", "stream", "train", "memory"])
    parser.add_argument("--messages", type=int)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--engine", choices=["ray"])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.what == "assign":
            assign(folder, asked.messages or 60_000, asked.engine)
        elif asked.what == "stream":
            stream(folder, asked.messages or 200_000)
        elif asked.what == "train":
            train(folder, asked.epochs)
        else:
            memory(asked.messages or 1_000_000, asked.shards)


if __name__ == "__main__":
    main()
