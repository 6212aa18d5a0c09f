"""A run as it is kept: one JSON line with its conditions, times, figures and predictions."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Frozen, and every number finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Seconds(Part):
    """Wall-clock times; ``prepare`` was spent once for all runs that share a preparation.

    ``processor`` is the processor's time to fit, per epoch: other programs hardly change it. Runs
    of earlier versions lack it.
    """

    prepare: float
    fit: float
    epoch: float | None
    judge: float
    processor: float | None = None


class Validated(Part):
    """Figures of the kept epoch on validation messages; absent where a method has no epochs."""

    accuracy: float | None = None
    macro_f1: float | None = None
    loss: float | None = None


class Figures(Part):
    """Figures on the test messages; ``auroc`` is of uncertainty against error."""

    accuracy: float
    macro_f1: float
    nmi: float
    ami: float
    ari: float
    auroc: float | None
    uncertainty_right: float | None
    uncertainty_wrong: float | None


class Sizes(Part):
    """How many messages of each part there were."""

    train: int
    validation: int
    test: int


class Outcome(Part):
    """What a finished run gave.

    ``truth`` and ``predicted`` number the classes in their sorted order; events without training
    messages follow after them, and -1 stands for no prediction at all, for lack of evidence.
    ``tested`` is a digest of the test messages' ids, in order.
    """

    seconds: Seconds
    epochs: int
    best_epoch: int
    validation: Validated
    test: Figures
    classes: int
    messages: Sizes
    tested: str
    truth: list[int]
    predicted: list[int]
    uncertainty: list[float]


class Run(Part):
    """One line of the file: who ran under which conditions, and the outcome or the error.

    ``trace`` says where an unforeseen error came from. ``code`` is the digest of the code that ran
    and ``commit`` its name for people; runs of earlier versions lack both.
    """

    key: str
    contestant: str
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

    @property
    def made_by(self) -> str:
        """Name the code that ran: its commit, else the version."""
        return self.commit or f"eventide {self.versions.get('eventide', 'of an unknown version')}"
