"""One worker of an assignment: the model, loaded once, and a Parquet part for each partition."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from eventide.cluster.partitions import FileReading, Partition, ReadPartition
from eventide.corpus.messages import Messages
from eventide.data.intake import Intake
from eventide.errors import DamagedBundle, EventideWarning
from eventide.model import EventClassifier, load_model
from eventide.model.opinion_frame import to_review, with_messages
from eventide.storage import atomic_file

FACTS = "eventide.part"
"""Key of a part's facts in its Parquet metadata."""

REJECTED_FOLDER = "_rejected"


@dataclass(frozen=True)
class AssignmentRequest:
    """What is asked of each message, and where everything is; paths are the same on every node."""

    model: str
    out: str
    files: tuple[str, ...]
    reading: FileReading
    rows: int
    strict: bool = False
    as_new: bool = False
    with_text: bool = False
    threshold: float | None = None
    allow_download: bool = False
    salt_file: str | None = None
    coverage: float | None = None
    false_alarms: float | None = None

    def load(self) -> EventClassifier:
        """Load the model."""
        salt = None if self.salt_file is None else Path(self.salt_file)
        return load_model(Path(self.model), allow_download=self.allow_download, salt_file=salt)


@dataclass(frozen=True)
class PartFacts:
    """What is in a part: messages assigned and written, rows quarantined, and notes."""

    name: str
    messages: int
    written: int
    rejected: int
    notes: tuple[str, ...] = ()


def part_path(out: str | Path, name: str) -> Path:
    """Return the file of a part: it is there when the partition is finished."""
    return Path(out) / f"part-{name}.parquet"


def rejected_path(out: str | Path, name: str) -> Path:
    """Return the file of a part's quarantined rows, there where it has any."""
    return Path(out) / REJECTED_FOLDER / f"part-{name}.parquet"


def read_facts(path: Path) -> PartFacts:
    """Read what is in a part from its last bytes."""
    try:
        facts: dict[str, Any] = json.loads(pl.read_parquet_metadata(path)[FACTS])
        return PartFacts(**facts | {"notes": tuple(facts["notes"])})
    except (OSError, KeyError, ValueError, TypeError, pl.exceptions.PolarsError):
        raise DamagedBundle(
            "a part of an earlier run is damaged",
            where=str(path),
            next_step="remove this file, and run the same command again: it is made anew",
        ) from None


class Assigner:
    """Assigns the messages of partitions and writes each part whole or not at all.

    Doing a partition twice writes the same part twice: whoever finds a worker dead gives its
    partition to another one, and no row is lost or doubled.
    """

    def __init__(self, request: AssignmentRequest, model: EventClassifier | None = None) -> None:
        self._request = request
        self._model = model or request.load()

    def __call__(self, partition: Partition | ReadPartition) -> PartFacts:
        """Assign the messages of one partition."""
        request, out = self._request, self._request.out
        intake = partition.intake(request.reading, request.files)
        if request.strict:
            intake.check_rejected(strict=True)
        written, notes = self._opinions(intake)
        facts = PartFacts(
            partition.name,
            len(intake.messages),
            len(written),
            len(intake.rejected),
            (*intake.notes, *notes),
        )
        if len(intake.rejected):  # first: a part that is there has its quarantine
            with atomic_file(rejected_path(out, partition.name), "rejected rows") as temporary:
                intake.rejected.write_parquet(temporary)
        with atomic_file(part_path(out, partition.name), "a part") as temporary:
            written.write_parquet(temporary, metadata={FACTS: json.dumps(asdict(facts))})
        return facts

    def _opinions(self, intake: Intake) -> tuple[pl.DataFrame, tuple[str, ...]]:
        if not len(intake.messages):
            return self._nobody, ()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", EventideWarning)
            messages = Messages.of(intake, entities=self._model.entities)
            opinions = self._model.opinions(
                messages,
                as_new=self._request.as_new,
                coverage=self._request.coverage,
                false_alarms=self._request.false_alarms,
            )
        if self._request.with_text:
            opinions = with_messages(opinions, messages.messages)
        notes = tuple(str(each.message) for each in told)
        return to_review(opinions, threshold=self._request.threshold), notes

    @cached_property
    def _nobody(self) -> pl.DataFrame:
        """A part without messages, of the same columns as all others."""
        from eventide.data import read

        return self._opinions(read(["nobody"]))[0].clear()
