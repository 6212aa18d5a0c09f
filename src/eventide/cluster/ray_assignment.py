"""Partitions on Ray: Ray Data reads the files and hands them to actors, each with the model."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Generator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from eventide.cluster.assigner import Assigner, AssignmentRequest, PartFacts
from eventide.cluster.assignment import Engine
from eventide.cluster.partitions import Partition, frame_bytes, partitions
from eventide.cluster.ray_session import RayOptions, ray_session
from eventide.data.batch import Batch
from eventide.errors import EventideError

READERS = 8
"""Actors that one reader of files keeps busy."""

Rows = dict[str, Any]
"""A batch of Ray Data: a list of equal length for each column."""


def ray_assignment(options: RayOptions, workers: int | None = None) -> Engine:
    """Return the engine that does partitions on Ray, with ``workers`` actors.

    Ray reads several files at once, keeps the actors busy within its object store, and gives a
    partition to another actor when one dies.
    """

    def run(request: AssignmentRequest, done: frozenset[str]) -> Generator[PartFacts]:
        with ray_session(options, workers) as actors:
            try:
                yield from _mapped(request, done, options, actors)
            except EventideError:
                raise
            except Exception as error:
                raise _cause(error) from None

    return run


def _mapped(
    request: AssignmentRequest, done: frozenset[str], options: RayOptions, actors: int
) -> Iterator[PartFacts]:
    import ray.data

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_max_block_size = 1  # a partition is a block, and goes to an actor by itself
    context.log_internal_stack_trace_to_stdout = False
    files = [{"part": part, "file": file} for part, file in enumerate(request.files)]
    found = (
        ray.data.from_items(files, override_num_blocks=len(files))
        .map_batches(
            _Reader(request, done),
            batch_size=1,
            batch_format="numpy",
            num_cpus=0,  # the actors may hold all cores, and reading takes a hundredth of theirs
            compute=ray.data.TaskPoolStrategy(size=max(1, actors // READERS)),
        )
        .map_batches(
            PartitionActor,
            fn_constructor_args=(request,),
            batch_size=1,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(size=actors),
            **options.resources(),
        )
    )
    for row in found.iter_rows():
        facts = json.loads(row["facts"])
        yield PartFacts(**facts | {"notes": tuple(facts["notes"])})


class _Reader:
    """Reads the partitions of one file, one at a time, as rows that Ray Data can carry."""

    def __init__(self, request: AssignmentRequest, done: frozenset[str]) -> None:
        self._request, self._done = request, done

    def __call__(self, files: Rows) -> Iterator[Rows]:
        request = self._request
        for part, file in zip(files["part"], files["file"], strict=True):
            for each in partitions(
                Path(str(file)), int(part), request.reading, request.rows, self._done
            ):
                yield packed(each)


class PartitionActor:
    """An actor of Ray with the model, loaded once."""

    def __init__(self, request: AssignmentRequest) -> None:
        import torch

        torch.set_num_threads(1)
        self._assigner = Assigner(request)

    def __call__(self, rows: Rows) -> Rows:
        """Assign the partition in ``rows``, and return the facts of its part."""
        told = [json.dumps(asdict(self._assigner(each))) for each in unpacked(rows)]
        return {"facts": told}


def packed(partition: Partition) -> Rows:
    """Turn a partition into one row of plain values and Arrow bytes."""
    facts = [
        {
            "found": list(batch.found),
            "no_nul": batch.no_nul,
            "closed": batch.closed,
            "part": batch.part,
            "notes": list(batch.notes),
        }
        for batch in partition.batches
    ]
    head = {"name": partition.name, "day_first": partition.day_first, "batches": facts}
    frames = [
        frame_bytes(frame) for batch in partition.batches for frame in (batch.frame, batch.rejected)
    ]
    ends = [sum(map(len, frames[: count + 1])) for count in range(len(frames))]
    return {"head": [json.dumps(head | {"ends": ends})], "frames": [b"".join(frames)]}


def unpacked(rows: Rows) -> Iterator[Partition]:
    """Yield the partitions of rows that ``packed`` made."""
    for head, frames in zip(rows["head"], rows["frames"], strict=True):
        said = json.loads(str(head))
        starts = [0, *said["ends"]]
        tables = [
            pl.read_ipc(io.BytesIO(frames[start:end]))
            for start, end in zip(starts[:-1], said["ends"], strict=True)
        ]
        batches = tuple(
            Batch(frame, rejected=rejected, **facts | {"notes": tuple(facts["notes"])})
            for frame, rejected, facts in zip(
                tables[::2], tables[1::2], said["batches"], strict=True
            )
        )
        yield Partition(said["name"], batches, said["day_first"])


def _cause(error: BaseException) -> EventideError:
    """Find the typed error that a worker raised; Ray wraps it several times."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, EventideError):
            return seen
        inner = getattr(seen, "cause", None)
        seen = inner if isinstance(inner, BaseException) else seen.__cause__
    told = " ".join(str(error).split())[-300:]
    return EventideError(
        f"the work on Ray failed: {told}",
        next_step="run the same command again: finished parts are kept",
    )
