"""A model that keeps learning: remember new messages, learn labels and events, let old ones go.

Nothing is approximate: when messages join or leave, what their neighbours' hidden states hold
changes, and the states of the whole memory are computed again when they are next needed. So joining
in any batches equals joining at once, and the cost of that pass grows with the memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import UNLABELLED, TrainingSet, Validation
from eventide.errors import InputError
from eventide.features.time_buckets import time_buckets
from eventide.graphs.keys import KeyIndex
from eventide.methods import METHODS
from eventide.methods.baselines.logistic_regression import LrEncoder
from eventide.methods.method import Method
from eventide.methods.single_step import KEPT
from eventide.methods.trained import MultiViewMethod
from eventide.methods.warm_start import STEPS, fine_tune, warm_start
from eventide.model.label_types import TEXT, as_given, label_kind
from eventide.model.novelty_scores import NoveltyModel, fit_probe
from eventide.model.validation_ids import ValidationIds
from eventide.model.validation_predictions import ValidationPredictions
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.scoring.metrics import accuracy

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

HELD_OUT = 10
"""Of the labelled messages of an event, every so many-th is held out to validate."""


@dataclass(frozen=True)
class UpdateReport:
    """What an update changed.

    Validation accuracies are of the messages of the events known before; None without any, or
    where nothing was learned.
    """

    remembered: int = 0
    learned: int = 0
    corrected: int = 0
    replaced: int = 0
    aged: int = 0
    memory: int = 0
    new_events: list[str] = field(default_factory=list)
    validation_before: float | None = None
    validation_after: float | None = None
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Memory:
    """The memory on its way: messages, their labels, who validates with which class."""

    corpus: Corpus
    labels: Ints
    clear: pl.DataFrame | None

    def take(self, rows: Ints) -> _Memory:
        clear = None if self.clear is None else self.clear[rows]
        return _Memory(self.corpus.take(rows).compact(), self.labels[rows], clear)


def update_model(
    model: EventClassifier,
    messages: Any = None,
    y: Any = None,
    *,
    steps: int = STEPS,
    forget_before: datetime | str | None = None,
    allow_rejected: bool = False,
) -> UpdateReport:
    """Let a fitted model remember ``messages``, learn their labels, and let old messages go.

    The model changes only once all is ready. New events get the last places among the classes.
    """
    started = time.perf_counter()
    check_updatable(model)
    before = None if forget_before is None else _bucket(model, forget_before)
    memory = _Memory(model.memory_, model.labels_, model.remembered_)
    states = dict(model.method_.state())
    validated, truth = _validating(model)
    names = [str(each) for each in model.class_names]
    report: dict[str, Any] = {"notes": []}
    learned = 0
    if messages is not None:
        frame = model.intake(messages, y, allow_rejected=allow_rejected).messages
        frame = frame.unique("id", keep="last", maintain_order=True)
        match = model.inference.match(frame)
        memory, rows, fresh = _joined(model, memory, states, frame, match.rows, match.edited)
        events = frame["event"].to_list()
        fresh_names = sorted({e for e in events if e is not None} - set(names))
        as_given([*names, *fresh_names], _kind_with(model, fresh_names))
        number = {name: at for at, name in enumerate([*names, *fresh_names])}
        wanted = np.array([UNLABELLED if e is None else number[e] for e in events], dtype=np.int64)
        memory, validated, truth, counted = _labelled(memory, rows, wanted, validated, truth)
        learned = counted["learned"] + counted["corrected"]
        report |= counted | {
            "remembered": int(fresh.sum()),
            "replaced": int(match.edited.sum()),
            "new_events": fresh_names,
        }
        names += fresh_names
    if before is not None:
        staying = np.flatnonzero(memory.corpus.times >= before)
        if not len(staying):
            raise InputError(
                "that would let every message go",
                where=f"messages before {forget_before}",
                next_step="give an earlier time",
            )
        report["aged"] = len(memory.corpus) - len(staying)
        _take_states(states, staying)
        memory = memory.take(staying)
    found = _validation(memory.corpus, validated, truth)
    training_set = TrainingSet(memory.corpus, memory.labels, len(names), found)
    if learned:
        report["validation_before"] = _accuracy(model, training_set, len(model.classes_))
    method = _continued(model, states, training_set, learned=learned, steps=steps)
    classes = as_given(names, _kind_with(model, report.get("new_events", [])))
    known = len(model.classes_)
    _settle(model, method, memory, training_set, classes, validated, truth, learned, report)
    if learned:
        report["validation_after"] = _accuracy(model, training_set, known)
    report |= {"memory": len(memory.corpus), "seconds": time.perf_counter() - started}
    return UpdateReport(**report)


def check_updatable(model: EventClassifier) -> None:
    """Refuse methods that cannot go on from what they have learned."""
    if not isinstance(model.method_, (MultiViewMethod, LrEncoder)):
        raise InputError(
            f"the method {model.method!r} cannot be updated",
            next_step="train again with all messages, or train with ucl-ec, ce or lr-encoder",
        )


def _kind_with(model: EventClassifier, fresh: Sequence[str]) -> str:
    """Return the type that labels come back as; a new name may need text."""
    kind = label_kind(model.classes_)
    if fresh and kind != TEXT and not all(name.lstrip("-").isdecimal() for name in fresh):
        return TEXT
    return kind


def _bucket(model: EventClassifier, when: datetime | str) -> int:
    try:
        moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    except ValueError:
        raise InputError(
            f"not a time: {when!r}", next_step="write it like 2013-06-21 or 2013-06-21T14:00"
        ) from None
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    graph = model.settings_.graph
    column = pl.Series([zoned], dtype=pl.Datetime("ms", "UTC"))
    return int(time_buckets(column, graph.time_unit, graph.bucket_width)[0])


def _validating(model: EventClassifier) -> tuple[ValidationIds | None, Ints]:
    """Who validates, and the class of each; nobody where the model does not know."""
    if model.validated_ is None or model.validation_ is None:
        return None, np.zeros(0, dtype=np.int64)
    return model.validated_, model.validation_.truth


def _joined(
    model: EventClassifier,
    memory: _Memory,
    states: dict[str, Any],
    frame: pl.DataFrame,
    known: Ints,
    edited: Any,
) -> tuple[_Memory, Ints, Any]:
    """Let new messages join; return the memory, the row of each message, and which are new."""
    fresh = known < 0
    rows = known.copy()
    if edited.any():  # what is remembered under these ids goes
        ids = model.featuriser_.hashed("id", frame.filter(pl.Series(edited))["id"])
        staying = np.flatnonzero(~np.isin(memory.corpus.ids, ids))
        place = np.full(len(memory.corpus), -1, dtype=np.int64)
        place[staying] = np.arange(len(staying))
        rows = np.where(rows >= 0, place[rows], -1)
        _take_states(states, staying)
        memory = memory.take(staying)
    if fresh.any():
        unseen = frame.filter(pl.Series(fresh))
        corpus = model.inference.prepare(unseen, model.featuriser_.keys(unseen))
        rows[fresh] = len(memory.corpus) + np.arange(len(corpus))
        if KEPT in states:
            method = model.method_
            assert isinstance(method, LrEncoder)
            states[KEPT] = np.concatenate([states[KEPT], method.logits(corpus)])
        clear = memory.clear
        if clear is not None:
            clear = pl.concat([clear, unseen.select(clear.columns)], how="vertical_relaxed")
        labels = np.append(memory.labels, np.full(len(corpus), UNLABELLED, dtype=np.int64))
        memory = _Memory(memory.corpus.joined(corpus), labels, clear)
    return memory, rows, fresh


def _take_states(states: dict[str, Any], rows: Ints) -> None:
    for name in [each for each in states if each.startswith("rows.")]:
        states[name] = states[name][rows]


def _labelled(
    memory: _Memory,
    rows: Ints,
    wanted: Ints,
    validated: ValidationIds | None,
    truth: Ints,
) -> tuple[_Memory, ValidationIds | None, Ints, dict[str, Any]]:
    """Take labels over: a tenth of them validates, the others are to be learned."""
    given = wanted >= 0
    labels, truth = memory.labels.copy(), truth.copy()
    place = np.full(len(rows), -1, dtype=np.int64)
    if validated is not None:
        place = validated.find(memory.corpus.ids[rows])
        held = given & (place >= 0)
        truth[place[held]] = wanted[held]
    open_rows = given & (place < 0)
    old = labels[rows[open_rows]]
    corrected = int(((old >= 0) & (old != wanted[open_rows])).sum())
    first = np.flatnonzero(open_rows & (labels[rows] == UNLABELLED))
    labels[rows[open_rows]] = wanted[open_rows]
    if validated is not None and len(first):
        order = first[np.argsort(wanted[first], kind="stable")]
        starts = np.searchsorted(wanted[order], wanted[order])
        chosen = order[(np.arange(len(order)) - starts) % HELD_OUT == HELD_OUT - 1]
        labels[rows[chosen]] = UNLABELLED
        ids = np.concatenate([validated.ids, memory.corpus.ids[rows[chosen]]])
        users = np.concatenate([validated.users, memory.corpus.users[rows[chosen]]])
        validated, truth = ValidationIds(ids, users), np.append(truth, wanted[chosen])
    counted = {"learned": len(first), "corrected": corrected}
    return replace(memory, labels=labels), validated, truth, counted


def _validation(corpus: Corpus, validated: ValidationIds | None, truth: Ints) -> Validation:
    """Return the validation messages that the memory still has."""
    if validated is None:
        return Validation(truth[:0], rows=truth[:0])
    rows = KeyIndex(corpus.ids).find(validated.ids)
    return Validation(truth[rows >= 0], rows=rows[rows >= 0])


def _continued(
    model: EventClassifier,
    states: dict[str, Any],
    training_set: TrainingSet,
    *,
    learned: int,
    steps: int,
) -> Method:
    """Return the method beside the new memory, trained further where there is a label to learn."""
    method = METHODS.load(model.method)(model.settings_, model.seed)
    if isinstance(method, MultiViewMethod):
        if not learned:
            method.restore(states, training_set.corpus)
            return method
        warm_start(method, states, training_set)
        if steps:
            fine_tune(method, training_set, steps=steps)
        return method
    assert isinstance(method, LrEncoder)
    if learned:
        method.fit(training_set, lambda _: None, None)
    else:
        method.restore(states, training_set.corpus)
    return method


def _accuracy(model: EventClassifier, training_set: TrainingSet, classes: int) -> float | None:
    """Say how many validation messages of the first ``classes`` the model gets right."""
    held = training_set.validation
    known = held.labels < min(classes, len(model.classes_))
    if held.rows is None or not known.any():
        return None
    corpus = training_set.corpus.take(held.rows[known])
    rows = model.inference.rows_of(corpus.ids)
    there = rows >= 0
    if not there.any():
        return None
    said = model.method_.predict(rows[there])
    return accuracy(held.labels[known][there], said.scored_as)


def _settle(
    model: EventClassifier,
    method: Method,
    memory: _Memory,
    training_set: TrainingSet,
    classes: Any,
    validated: ValidationIds | None,
    truth: Ints,
    learned: int,
    report: dict[str, Any],
) -> None:
    """Change the model, now that all is ready."""
    held = training_set.validation
    novelty, calibration = model.novelty_, model.calibration_
    validation, kept = model.validation_, validated
    if learned and len(held):
        said = ValidationPredictions.of(method, training_set)
        calibration = said.calibrate()
        validation = replace(said, kind=calibration.kind)
        novelty = NoveltyModel.fit(training_set, method) or novelty
    elif learned:
        grew = len(classes) > len(model.classes_)
        calibration = ProbabilityCalibration.identity() if grew else calibration
        validation = ValidationPredictions.none(len(classes))
        report["notes"].append(
            "no validation messages in the memory: probabilities are not calibrated anew"
        )
        if novelty is not None:
            probe = fit_probe(memory.corpus, memory.labels, len(classes))
            novelty = replace(novelty, probe=probe)
    if kept is not None and (learned or len(held) < len(truth)):
        rows = KeyIndex(memory.corpus.ids).find(kept.ids) >= 0
        if learned or model.protocol == "transductive":
            kept = kept.take(rows)
            if not learned and validation is not None:
                validation = validation.take(rows)
    model.memory_, model.labels_, model.remembered_ = memory.corpus, memory.labels, memory.clear
    model.method_, model.classes_ = method, classes
    model.calibration_, model.validation_, model.validated_ = calibration, validation, kept
    model.novelty_ = novelty
