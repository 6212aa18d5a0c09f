"""What a report is about: messages, what the model says of them, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.errors import InputError
from eventide.features.time_buckets import bucket_starts
from eventide.methods.method import Bools, Floats, Prediction
from eventide.methods.trained import TrainedMethod
from eventide.model.evaluated_rows import Standing, rows_to_evaluate
from eventide.model.evaluation import answered
from eventide.model.inference import MemoryMatch
from eventide.reports.html.measured import Measured
from eventide.scoring.calibration_error import doubt_of

if TYPE_CHECKING:
    from eventide.corpus.messages import Messages
    from eventide.model import EventClassifier

Ints = NDArray[np.int64]
Days = NDArray[np.datetime64]
UNLABELLED = -1


@dataclass(frozen=True)
class ReportSubject:
    """n messages of a report; every array and column has one entry for each.

    ``truth`` is the index of a message's label among ``events``: the model's classes, then events
    that only the messages name; -1 without a label. ``trained`` messages taught the model.
    ``measured`` are labelled messages that did not, None where there are none. Without messages the
    report is about those that the model remembers (``own``).
    """

    model: EventClassifier
    name: str
    own: bool
    events: tuple[str, ...]
    prediction: Prediction
    truth: Ints
    trained: Bools
    measured: Measured | None
    days: Days | None
    ids: pl.Series | None
    texts: pl.Series | None
    intake: Messages | None = None
    match: MemoryMatch | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def classes(self) -> int:
        """How many events the model knows."""
        return len(self.model.classes_)

    @property
    def doubt(self) -> Floats:
        """The doubt about each message's assignment."""
        return self.prediction.doubt

    @property
    def fresh(self) -> Bools:
        """Messages that did not teach the model; all, where every one did."""
        return ~self.trained if (~self.trained).any() else np.ones(len(self), bool)

    @property
    def event(self) -> Ints:
        """What each message counts for: the label that taught the model, else what it assigns."""
        return np.where(self.trained, self.truth, self.prediction.predicted)

    def without_text(self) -> ReportSubject:
        """Return the same without texts and ids."""
        return replace(self, texts=None, ids=None)

    def training_sizes(self) -> Ints:
        """Count the training messages of each class."""
        labels = self.model.labels_
        counts: Ints = np.bincount(labels[labels >= 0], minlength=self.classes)
        return counts

    def vectors(self, rows: Ints) -> Floats:
        """Return what the model makes of some messages [rows, width], all views side by side."""
        inference, memory = self.model.inference, self.model.memory_
        trains = isinstance(self.model.method_, TrainedMethod)
        if self.match is None or self.intake is None:
            match, frame = MemoryMatch.remembered(memory, rows), None
        else:
            match, frame = self.match.take(rows), self.intake.messages[rows]
        if not trains:
            corpus = memory.take(rows) if frame is None else inference.prepare(frame, match.keys)
            return corpus.features.astype(np.float64)
        found = inference.embeddings(match, frame)
        return np.concatenate(list(found.values()), axis=1)


def subject_of(model: EventClassifier, messages: Any = None, name: str = "") -> ReportSubject:
    """Predict messages, or the model's own where none are given, and choose what is measured."""
    model.check_fitted()
    if messages is None:
        return _remembered(model)
    intake = model.intake(messages, allow_rejected=True)
    frame, name = intake.messages, name or intake.where
    match = model.match_messages(frame)
    prediction = model.inference.predict(frame, match)
    known = [str(each) for each in model.class_names]
    labels = frame["event"]
    others = sorted(set(labels.drop_nulls().to_list()) - set(known))
    events = (*known, *others)
    index = {each: k for k, each in enumerate(events)}
    truth = np.array([UNLABELLED if each is None else index[each] for each in labels], np.int64)
    measured, notes = _measured(model, intake, prediction, truth, events)
    created = frame["created_at"]
    dated = created.null_count() < len(created)
    return ReportSubject(
        model=model,
        name=name,
        own=False,
        events=events,
        prediction=prediction,
        truth=truth,
        trained=Standing.of(model, frame).trained,
        measured=measured,
        days=created.dt.date().to_numpy().astype("datetime64[D]") if dated else None,
        ids=frame["id"],
        texts=frame["text"],
        intake=intake,
        match=match,
        notes=notes,
    )


def _measured(
    model: EventClassifier,
    intake: Messages,
    prediction: Prediction,
    truth: Ints,
    events: tuple[str, ...],
) -> tuple[Measured | None, tuple[str, ...]]:
    """Choose the labelled messages that say something of new ones, as `eventide evaluate` does."""
    labelled = np.flatnonzero(truth >= 0)
    if not len(labelled):
        return None, ()
    try:
        which, mask, standing = rows_to_evaluate(model, intake.messages[labelled])
    except InputError as error:  # the model was trained on all of them
        return None, (f"{error.what}, so that no figure is measured on them",)
    rows = labelled[mask]
    chose = standing.validated is not None and bool(standing.validated[mask].any())
    named = {
        "unseen": "labelled messages that the model has not seen",
        "val": "validation messages",
    }
    measured = Measured(
        what=f"{len(rows):,} {named.get(which, f'{which} messages')}",
        events=events,
        classes=len(model.classes_),
        truth=truth[rows],
        predicted=prediction.scored_as[rows],
        # The labels of validation messages calibrated the model: each is asked without its own.
        doubt=answered(model, intake).prediction.doubt if chose else prediction.doubt[rows],
        rows=rows,
        flattered=chose,
    )
    return measured, ()


def _remembered(model: EventClassifier) -> ReportSubject:
    """Make the model's own memory the subject."""
    memory, graph = model.memory_, model.settings_.graph
    starts = bucket_starts(memory.times, graph.time_unit, graph.bucket_width)
    clear = model.remembered_
    said = model.inference.predict_rows(np.arange(len(memory))).calibrated(model.calibration_)
    return ReportSubject(
        model=model,
        name="the model's own messages",
        own=True,
        events=tuple(str(each) for each in model.class_names),
        prediction=said,
        truth=np.asarray(model.labels_, np.int64),
        trained=np.asarray(model.labels_ >= 0),
        measured=_validated(model),
        days=starts.astype("datetime64[ms]").astype("datetime64[D]"),
        ids=None if clear is None else clear["id"],
        texts=None if clear is None else clear["text"],
    )


def _validated(model: EventClassifier) -> Measured | None:
    """Take what the model keeps of its validation messages."""
    kept = model.validation_
    if kept is None or not len(kept):
        return None
    return Measured(
        what=f"{len(kept):,} validation messages",
        events=tuple(str(each) for each in model.class_names),
        classes=len(model.classes_),
        truth=kept.truth,
        predicted=np.where(kept.undecided, UNLABELLED, kept.predicted),
        doubt=doubt_of(kept.calibrated, kept.predicted),
        flattered=True,
    )
