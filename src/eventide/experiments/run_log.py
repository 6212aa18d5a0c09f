"""A run as a record, and the log of runs: a line is appended when a run ends."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from eventide.errors import UnreadableSource
from eventide.outputs import writing


class Part(BaseModel):
    """Frozen, and every value finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Seconds(Part):
    """Wall-clock times; ``prepare`` was spent once for all runs that share a preparation.

    ``processor`` is the processor's time to fit, per epoch: other programs hardly change it. Runs
    of earlier versions lack it.
    """

    prepare: float
    fit: float
    epoch: float | None
    predict: float = Field(validation_alias=AliasChoices("predict", "judge"))
    processor: float | None = None


class ValidationFigures(Part):
    """Figures of the kept epoch on validation messages; absent where a method has no epochs."""

    accuracy: float | None = None
    macro_f1: float | None = None
    loss: float | None = None
    nll: float | None = None


class SetFigures(Part):
    """How often sets made for a ``wanted`` coverage hold the true event, and how large they are.

    ``class_coverage`` is averaged over the events that occur.
    """

    wanted: float
    coverage: float
    class_coverage: float
    size: float


class Figures(Part):
    """Figures on the test messages whose event was trained on.

    ``auroc`` says how well doubt (1 - probability of the assigned event) ranks errors,
    ``vacuity_auroc`` how well the method's own uncertainty does. ``tail_recall`` is of the smallest
    third of the events, ``nll`` is averaged by class. ``unseen_auroc`` says how well doubt ranks
    messages of events that were not trained on above the others. ``aurc`` is the area under the
    risk-coverage curve of doubt. ``sets`` are the prediction sets. Runs of earlier versions lack
    these, and their ``auroc`` is of uncertainty.
    """

    accuracy: float
    macro_f1: float
    nmi: float
    ami: float
    ari: float
    auroc: float | None
    uncertainty_right: float | None
    uncertainty_wrong: float | None
    vacuity_auroc: float | None = None
    tail_recall: float | None = None
    nll: float | None = None
    ece: float | None = None
    unseen_auroc: float | None = None
    aurc: float | None = None
    sets: SetFigures | None = None


class Sizes(Part):
    """How many messages of each part there were."""

    train: int
    validation: int
    test: int


class Outcome(Part):
    """What a finished run gave.

    ``truth`` and ``predicted`` are indices of the classes in their sorted order; events without
    training messages follow after them, and -1 is no prediction at all, for lack of evidence.
    ``tested`` is a digest of the test messages' ids, in order. ``doubt`` is 1 - probability of the
    assigned event; runs of earlier versions have ``uncertainty`` instead.
    """

    seconds: Seconds
    epochs: int
    best_epoch: int
    validation: ValidationFigures
    test: Figures
    classes: int
    messages: Sizes
    tested: str
    truth: list[int]
    predicted: list[int]
    doubt: list[float] = Field(validation_alias=AliasChoices("doubt", "uncertainty"))
    steps: int | None = None


class RunRecord(Part):
    """One line of the file: the variant, the conditions, and the outcome or the error.

    ``regime`` is the named protocol, empty for a plain split; ``lock`` names the lock whose
    messages were tested, or left out while tuning (``tuning``). ``trace`` says where an unforeseen
    error came from. ``code`` is the digest of the code that ran and ``commit`` its name for people;
    runs of earlier versions lack these.
    """

    key: str
    variant: str = Field(validation_alias=AliasChoices("variant", "contestant"))
    method: str
    note: str
    dataset: str
    fingerprint: str
    seed: int
    split: str
    protocol: str
    encoder: str
    entities: str
    preset: str
    views: dict[str, list[str]]
    settings: dict[str, Any]
    versions: dict[str, str]
    threads: int
    finished_at: str
    outcome: Outcome | None
    error: str | None
    trace: str = ""
    code: str = ""
    commit: str = ""
    regime: str = ""
    lock: str = ""
    tuning: bool = False

    @property
    def made_by(self) -> str:
        """Name the code that ran: its commit, else the version."""
        return self.commit or f"eventide {self.versions.get('eventide', 'of an unknown version')}"


BEGINNING = b'{"key":'
"""How every line of ours begins."""
PACKED = ".gz"
"""How the name of a packed log ends: it is only read."""


class RunLog:
    """One JSON line per run. A line that a kill cut short counts as not there.

    A log that was packed with gzip is read like any other.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[list[RunRecord], int]:
        """Return the runs in order, and how many lines could not be read."""
        if not self.path.exists():
            return [], 0
        found, damaged = [], 0
        for line in self._lines():
            if not line.strip():
                continue
            try:
                found.append(RunRecord.model_validate_json(line))
            except ValidationError:
                damaged += 1
        return found, damaged

    def is_ours(self) -> bool:
        """Tell whether the file, if there is one, begins like a file of runs."""
        if not self.path.exists():
            return True
        with self.path.open("rb") as file:
            start = file.read(len(BEGINNING))
        return BEGINNING.startswith(start)

    def _lines(self) -> Iterator[bytes]:
        """Read line by line; the end of a packed log that was cut short is one damaged line."""
        if self.path.suffix != PACKED:
            yield from self.path.read_bytes().splitlines()
            return
        with gzip.open(self.path) as file:
            try:
                yield from file
            except EOFError:
                yield b"cut short"
            except (gzip.BadGzipFile, zlib.error) as error:
                raise UnreadableSource(
                    f"not packed with gzip, or damaged: {error}",
                    where=str(self.path),
                    next_step="give the log as it was written (runs.jsonl), or pack it again",
                ) from None

    def append(self, run: RunRecord) -> None:
        """Add a line in one write and wait until it is on the disk."""
        line = run.model_dump_json().encode() + b"\n"
        with writing(self.path, "the runs"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+", buffering=0) as file:
                if self._cut_short(file.fileno()):
                    line = b"\n" + line
                file.write(line)
                os.fsync(file.fileno())

    def _cut_short(self, file: int) -> bool:
        """Tell whether the last line lacks its end, so that the next one must not continue it."""
        size = os.fstat(file).st_size
        os.lseek(file, max(0, size - 1), os.SEEK_SET)
        return size > 0 and os.read(file, 1) != b"\n"
