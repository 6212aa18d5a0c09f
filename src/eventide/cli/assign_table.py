"""``eventide assign`` to one file: opinions as one table, by this process or by workers."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from eventide.cli.assign_files import NOTES
from eventide.progress import step
from eventide.runtime.cores import own_threads

if TYPE_CHECKING:
    import polars as pl

    from eventide.data import Intake
    from eventide.model import EventClassifier

WORTH_WORKERS = 40_000
"""Messages from which on workers pay: each takes two seconds to begin (benchmarks/assigning.py)."""


def workers_for(messages: int) -> int:
    """Return how many processes share the work.

    >>> workers_for(100)
    1
    """
    return own_threads() if messages >= WORTH_WORKERS else 1


def assign_table(
    intake: Intake,
    model: EventClassifier,
    folder: Path,
    *,
    as_new: bool,
    coverage: float | None,
    false_alarms: float | None,
    allow_download: bool,
    salt_file: Path | None,
) -> tuple[pl.DataFrame, list[str]]:
    """Return a row of opinions for each message, and notes to show; ``folder`` holds the model."""
    count = len(intake.messages)
    workers = workers_for(count)
    if workers == 1:
        from eventide.model.opinion_chunks import CHUNK

        # More than one chunk is counted by the model itself.
        alone = step(f"assigning events to {count:,} messages") if count <= CHUNK else nullcontext()
        with alone:
            opinions = model.opinions(
                intake, as_new=as_new, coverage=coverage, false_alarms=false_alarms
            )
        return opinions, []
    from eventide.cluster.assigner import AssignmentRequest
    from eventide.cluster.one_table import assign_messages
    from eventide.cluster.partitions import FileReading

    request = AssignmentRequest(
        model=str(folder.expanduser().absolute()),
        out="",
        files=(),
        reading=FileReading({}, {}, ()),
        rows=0,
        as_new=as_new,
        allow_download=allow_download,
        salt_file=None if salt_file is None else str(salt_file.expanduser()),
        coverage=coverage,
        false_alarms=false_alarms,
    )
    opinions, notes = assign_messages(intake.messages, request, workers)
    more = [f"{len(notes) - NOTES:,} more notes on single parts"] if len(notes) > NOTES else []
    return opinions, [*notes[:NOTES], *more]
