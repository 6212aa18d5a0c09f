"""What several workers give, and what they need: on this machine, with processes of its own.

    python benchmarks/cluster.py assign             # one worker and two, messages a second
    python benchmarks/cluster.py assign --engine ray
    python benchmarks/cluster.py stream             # peak memory of small and large files
    python benchmarks/cluster.py train              # one worker and two, seconds an epoch
    python benchmarks/cluster.py train --engine ray
    python benchmarks/cluster.py train --messages 0 # the same on the built-in sample
    python benchmarks/cluster.py memory             # memory per worker of a memory in shards

Efficiency is the speed of two workers with a thread each over twice the speed of one worker with
one thread, on the same cores; one worker with two threads stands beside it. On a machine where
others work too it says little, so that the seconds of the processor stand beside it.
With ``--engine ray`` run it in a network of its own: Ray listens on all interfaces.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from apart import watched
from assigning import new_messages
from eventide.cluster.assigner import AssignmentRequest
from eventide.cluster.assignment import Engine, assign_files
from eventide.cluster.distributed import launch_ray, launch_torchrun, run_folder
from eventide.cluster.partitions import FileReading
from eventide.cluster.shards import LocalShard, key_ranges
from eventide.cluster.train_worker import TrainingRequest
from eventide.data import Intake, read
from eventide.data.sample import sample
from eventide.model import EventClassifier
from eventide.runtime.own_process import EVERY_POOL, make_own
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


CASES = ((1, 1), (1, 2), (2, 1))
"""Workers, and threads of each."""


def assign(folder: Path, messages: int, engine: str | None) -> None:
    """Assign the same files with one worker, with one of two threads, and with two workers."""
    new_messages(messages).write_ndjson(folder / "new.jsonl")
    request_for(folder, [], "none")
    steady: dict[tuple[int, int], float] = {}
    whole: dict[tuple[int, int], float] = {}
    for workers, threads in CASES:
        if engine == "ray" and threads > 1:  # an actor has one thread
            continue
        words = ["assign-once", "--folder", str(folder), "--workers", str(workers)]
        words += [] if engine is None else ["--engine", engine]
        told = json.loads(in_threads(words, threads))
        case = workers, threads
        steady[case], whole[case] = told["steady"], told["whole"]
        text = f"{named(*case)}: {told['steady']:,.0f} messages a second, {told['whole']:,.0f} "
        text += "with its start"
        if engine is None:  # workers of Ray are not waited for
            text += f"; {told['processor']:,.0f} a second of the processor"
        print(text, flush=True)
    for name, rates in (("", steady), (", starts included", whole)):
        print(f"efficiency of two workers{name}: {rates[2, 1] / (2 * rates[1, 1]):.2f}")


def named(workers: int, threads: int) -> str:
    """Name a case."""
    of = f" of {threads} threads" if threads > 1 else ""
    return f"{workers} worker{'s' * (workers > 1)}{of}"


def in_threads(words: list[str], threads: int) -> str:
    """Run this program with so many threads in every pool, and return the last line it prints."""
    pools = dict.fromkeys(EVERY_POOL, str(threads))
    done = subprocess.run(
        [sys.executable, __file__, *words],
        env=os.environ | pools,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def assign_once(folder: Path, workers: int, engine: str | None) -> None:
    """Assign the messages in ``folder``; print messages a second, by several clocks.

    ``steady`` counts from when every worker has done a part, ``whole`` from the beginning.
    """
    torch.set_num_threads(int(os.environ[EVERY_POOL[0]]))
    request = request_for(folder, [folder / "new.jsonl"], "out")
    on: Engine | None = None
    if engine == "ray":
        from eventide.cluster.ray_assignment import ray_assignment
        from eventide.cluster.ray_session import RayOptions

        on = ray_assignment(RayOptions(object_store=200), workers)
    seen: list[tuple[float, int]] = []
    before, started = processor_seconds(), time.perf_counter()
    assign_files(
        request,
        workers=workers,
        engine=on,
        overwrite=True,
        watch=lambda facts: seen.append((time.perf_counter(), facts.messages)),
    )
    ended, used = time.perf_counter(), processor_seconds() - before
    total = sum(count for _, count in seen)
    steady = sum(count for _, count in seen[workers:]) / (seen[-1][0] - seen[workers - 1][0])
    told = {"steady": steady, "whole": total / (ended - started), "processor": total / used}
    print(json.dumps(told))


def stream(folder: Path, messages: int) -> None:
    """Print the peak memory of ``assign``: to one file, and to a folder, of files of two sizes."""
    request_for(folder, [], "none")
    for count in (messages // 10, messages):
        file = folder / f"new-{count}.jsonl"
        new_messages(count).write_ndjson(file)
        for out, more in ((f"whole-{count}.parquet", []), (f"parts-{count}", ["--workers", "1"])):
            words = ["assign", str(folder / "model"), str(file), "--out", str(folder / out), *more]
            found = watched([sys.executable, "-m", "eventide", *words])
            how = "in parts " if more else "one file "
            size = file.stat().st_size / MEBIBYTE
            print(
                f"{how} {count:>9,} messages ({size:,.0f} MiB): peak {found.together:,.0f} MiB in "
                f"all processes, {found.largest:,.0f} MiB in the largest"
            )


def invented_messages(count: int) -> pl.DataFrame:
    """Invent labelled messages with a long tail of elements, and vectors near their event's."""
    graph, random = generate(count), np.random.default_rng(2)
    columns = {"hashtag": "hashtags", "entity": "entities", "user": "mentions"}
    found: dict[str, Any] = {
        columns[view]: [
            [f"{view}{each}" for each in row]
            for row in np.split(incidence.elements, incidence.pointers[1:-1])
        ]
        for view, incidence in graph.views.items()
    }
    centres = random.standard_normal((graph.events.max() + 1, WIDTH), dtype=np.float32)
    noise = random.standard_normal((count, WIDTH), dtype=np.float32)
    start = datetime(2013, 6, 1, tzinfo=UTC)
    return pl.DataFrame(
        {
            "id": [f"m{each}" for each in range(count)],
            "text": ["invented"] * count,
            "created_at": [start + timedelta(days=int(each)) for each in graph.times],
            "event": [f"event-{each}" for each in graph.events],
            "vector": pl.Series(
                centres[graph.events] + 2 * noise, dtype=pl.Array(pl.Float32, WIDTH)
            ),
            **found,
        }
    )


def train(folder: Path, messages: int, epochs: int, engine: str | None) -> None:
    """Train the same model with one worker, with one of two threads, and with two workers."""
    intake = read(invented_messages(messages) if messages else sample())
    given: dict[str, Any] = {"encoder": "precomputed", "training__batch_size": 1_500}
    model = EventClassifier(
        training__epochs=epochs,
        training__least_steps=0,
        training__epoch_steps=1,
        training__patience=None,
        **given if messages else {},
    )
    seconds: dict[tuple[int, int], float] = {}
    for workers, threads in CASES:
        rows: list[float] = []
        if threads > 1:
            torch.set_num_threads(threads)
            fitted = model.fit(intake, watch=lambda row, rows=rows: rows.append(row["seconds"]))
            torch.set_num_threads(1)
        else:
            together(folder, model, intake, workers, engine, rows)
        mean = sum(rows[1:]) / len(rows[1:])  # the first epoch builds the graph
        seconds[workers, threads] = mean
        count = f"{len(intake.messages):,} messages"
        print(f"{named(workers, threads)}: {mean:.2f} s an epoch of {count}", flush=True)
    print(f"efficiency of two workers: {seconds[1, 1] / (2 * seconds[2, 1]):.2f}")
    weights = sum(each.numel() for each in fitted.method_.runner.network.parameters())
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


def together(
    folder: Path,
    model: EventClassifier,
    intake: Intake,
    workers: int,
    engine: str | None,
    rows: list[float],
) -> None:
    """Train with so many workers of one thread; append the seconds of each epoch to ``rows``."""

    def watch(row: Mapping[str, float]) -> None:
        rows.append(row["seconds"])

    with run_folder(folder / "trained", intake) as place:
        request = TrainingRequest(str(place), model.plain_params(), str(folder / "trained"), None)
        if engine == "ray":
            from eventide.cluster.ray_session import RayOptions

            launch_ray(request, workers, RayOptions(object_store=200), watch)
        else:
            launch_torchrun(request, workers, watch)


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
    parser.add_argument("what", choices=["assign", "assign-once", "stream", "train", "memory"])
    parser.add_argument("--messages", type=int)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--engine", choices=["ray"])
    parser.add_argument("--workers", type=int, default=1, help="of assign-once")
    parser.add_argument("--folder", type=Path, help="of assign-once: model and messages")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    make_own()
    if asked.what == "assign-once":
        assign_once(asked.folder, asked.workers, asked.engine)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.what == "assign":
            assign(folder, asked.messages or 120_000, asked.engine)
        elif asked.what == "stream":
            stream(folder, asked.messages or 200_000)
        elif asked.what == "train":
            messages = 20_000 if asked.messages is None else asked.messages
            train(folder, messages, asked.epochs, asked.engine)
        else:
            memory(asked.messages or 1_000_000, asked.shards)


if __name__ == "__main__":
    main()
