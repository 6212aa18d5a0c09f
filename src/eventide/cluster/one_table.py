"""Opinions on messages that were read as a whole: by worker processes, as one table."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from tempfile import TemporaryDirectory

import polars as pl

from eventide.cluster.assigner import AssignmentRequest, part_path
from eventide.cluster.local_engine import assign_locally
from eventide.cluster.partitions import read_partitions
from eventide.model.opinion_chunks import CHUNK
from eventide.progress import track


def assign_messages(
    messages: pl.DataFrame, request: AssignmentRequest, workers: int, rows: int = CHUNK
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return a row of opinions for each message, in order, and notes.

    What workers have finished waits on the disk: no process holds more than a few partitions, and
    this one the messages and the opinions.
    """
    total = -(-len(messages) // rows)
    with TemporaryDirectory(prefix="eventide-") as folder:
        asked = replace(request, out=folder, rows=rows)
        work = assign_locally(read_partitions(messages, rows), asked, min(workers, total))
        with closing(work) as ended:
            said = f"assigning events to {len(messages):,} messages"
            facts = {each.name: each for each in track(ended, said, total=total)}
        names = sorted(facts)
        opinions = pl.concat([pl.read_parquet(part_path(folder, name)) for name in names])
    return opinions, tuple(dict.fromkeys(note for name in names for note in facts[name].notes))
