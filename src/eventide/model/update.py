"""A model that keeps learning: remember new messages, learn labels and events, let old ones go.

Nothing is approximate: joining in any batches equals joining at once. With ``graph.earlier_only``
messages that are not earlier than the memory's latest change no state of it: theirs are computed on
joining, and the memory's stay. Else, and when weights change or messages leave, the states of the
whole memory are computed again when they are next needed; that pass grows with the memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.corpus.corpus import Ints
from eventide.corpus.training_set import UNLABELLED, TrainingSet
from eventide.errors import InputError
from eventide.features.time_buckets import time_buckets
from eventide.graphs.keys import KeyIndex
from eventide.methods import METHODS
from eventide.methods.baselines.logistic_regression import LrEncoder
from eventide.methods.method import Method
from eventide.methods.trained import MultiViewMethod
from eventide.methods.warm_start import STEPS, fine_tune, warm_start
from eventide.model.adviser import Adviser
from eventide.model.joining import (
    MemoryOnItsWay,
    joined_memory,
    take_labels,
    take_states,
    validating,
    validation_of,
)
from eventide.model.label_types import TEXT, as_given, label_kind
from eventide.model.novelty_scores import NoveltyModel, fit_probe, tested
from eventide.model.remembering import late_messages, remember, states_stay
from eventide.model.validation_ids import ValidationIds
from eventide.model.validation_predictions import ValidationPredictions
from eventide.novelty.experts import EXPERTS
from eventide.novelty.history import StreamHistory
from eventide.novelty.reference import Reference
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.scoring.metrics import accuracy

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier


@dataclass(frozen=True)
class UpdateReport:
    """What an update changed.

    ``states`` says what became of the memory's hidden states: "kept" or "recomputed". ``late``
    messages of a causal graph are of an earlier time bucket than the memory's latest. Validation
    accuracies are of the messages of the events known before; None without any, or where nothing
    was learned. ``experts`` are the weights of the pool that decides events, where there is one.
    """

    remembered: int = 0
    learned: int = 0
    corrected: int = 0
    replaced: int = 0
    aged: int = 0
    dismissed: int = 0
    memory: int = 0
    states: str = "recomputed"
    late: int = 0
    new_events: list[str] = field(default_factory=list)
    experts: dict[str, float] = field(default_factory=dict)
    validation_before: float | None = None
    validation_after: float | None = None
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


def update_model(
    model: EventClassifier,
    messages: Any = None,
    y: Any = None,
    *,
    steps: int = STEPS,
    off_topic: Any = None,
    forget_before: datetime | str | None = None,
    allow_rejected: bool = False,
) -> UpdateReport:
    """Let a fitted model remember ``messages``, learn their labels, and let old messages go.

    What is like ``off_topic`` messages is no longer called new. The model changes only once all is
    ready. New events get the last places among the classes.
    """
    started = time.perf_counter()
    check_updatable(model)
    dismissed = None if off_topic is None else _dismissed(model, off_topic)
    report = _updated(model, messages, y, steps, forget_before, allow_rejected)
    if dismissed is not None and model.novelty_ is not None:
        vectors, notes = dismissed
        model.novelty_ = model.novelty_.dismissing(vectors)
        report = replace(report, dismissed=len(vectors), notes=[*report.notes, *notes])
    return replace(report, seconds=time.perf_counter() - started)


def _dismissed(model: EventClassifier, messages: Any) -> tuple[NDArray[np.float32], list[str]]:
    """Return the vectors of messages that a person dismissed as off-topic, and what to say."""
    if model.novelty_ is None:
        raise InputError(
            "the model does not measure novelty, so that nothing can be dismissed",
            next_step="train again, with validation messages",
        )
    frame = model.intake(messages).messages
    labelled, notes = frame["event"].drop_nulls(), []
    if len(labelled):
        notes.append(
            f"{len(labelled):,} of the off-topic messages have an event, such as "
            f"{labelled[0]}: taken as off-topic all the same"
        )
    return np.asarray(model.featuriser_.encoder.encode(frame), dtype=np.float32), notes


def _updated(
    model: EventClassifier,
    messages: Any,
    y: Any,
    steps: int,
    forget_before: datetime | str | None,
    allow_rejected: bool,
) -> UpdateReport:
    if messages is None and forget_before is None:
        return UpdateReport(memory=len(model.memory_), states="kept")
    before = None if forget_before is None else _bucket(model, forget_before)
    memory = MemoryOnItsWay(model.memory_, model.labels_, model.remembered_)
    states = dict(model.method_.state())
    validated, truth = validating(model)
    names = [str(each) for each in model.class_names]
    report: dict[str, Any] = {"notes": []}
    learned, history = 0, None
    if messages is not None:
        frame = model.intake(messages, y, allow_rejected=allow_rejected).messages
        frame = frame.unique("id", keep="last", maintain_order=True)
        match = model.inference.match(frame)
        memory, rows, added = joined_memory(model, memory, states, frame, match.rows, match.edited)
        events = frame["event"].to_list()
        fresh_names = sorted({e for e in events if e is not None} - set(names))
        as_given([*names, *fresh_names], _kind_with(model, fresh_names))
        number = {name: at for at, name in enumerate([*names, *fresh_names])}
        wanted = np.array([UNLABELLED if e is None else number[e] for e in events], dtype=np.int64)
        memory, validated, truth, first, corrected = take_labels(
            memory, rows, wanted, validated, truth
        )
        learned = len(first) + corrected
        report |= {
            "learned": len(first),
            "corrected": corrected,
            "remembered": len(added),
            "replaced": int(match.edited.sum()),
            "new_events": fresh_names,
            "late": late_messages(model, added),
        }
        if learned:
            asked = np.full(len(frame), UNLABELLED, dtype=np.int64)
            asked[first] = wanted[first]
            history = tested(model, frame, match, asked, classes=len(names) + len(fresh_names))
        changed = learned or match.edited.any() or before is not None
        if not changed and states_stay(model, added):
            remember(model, memory.corpus, added)
            model.remembered_ = memory.clear
            report |= {"states": "kept", "memory": len(memory.corpus)}
            return UpdateReport(**report)
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
        take_states(states, staying)
        memory = memory.take(staying)
    found = validation_of(memory.corpus, validated, truth)
    training_set = TrainingSet(memory.corpus, memory.labels, len(names), found)
    if learned:
        report["validation_before"] = _accuracy(model, training_set, len(model.classes_))
    method = _continued(model, states, training_set, learned=learned, steps=steps)
    classes = as_given(names, _kind_with(model, report.get("new_events", [])))
    known = len(model.classes_)
    _settle(
        model, method, memory, training_set, classes, validated, truth, learned, history, report
    )
    if learned:
        report["validation_after"] = _accuracy(model, training_set, known)
    report |= {"memory": len(memory.corpus)}
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
        older = model.method_
        assert isinstance(older, LrEncoder)
        method.start = older.probe
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
    said = model.inference.predict_rows(rows[there])
    return accuracy(held.labels[known][there], said.scored_as)


def _settle(
    model: EventClassifier,
    method: Method,
    memory: MemoryOnItsWay,
    training_set: TrainingSet,
    classes: Any,
    validated: ValidationIds | None,
    truth: Ints,
    learned: int,
    history: StreamHistory | None,
    report: dict[str, Any],
) -> None:
    """Change the model, now that all is ready."""
    held = training_set.validation
    novelty, calibration = model.novelty_, model.calibration_
    validation, kept = model.validation_, validated
    if learned and len(held):
        experts = model.settings_.training.pooled_experts
        start = None if novelty is None else novelty.probe
        fitted = NoveltyModel.fit(training_set, method, experts=experts, start=start)
        advise, wrong_labels = None, 0.0
        if fitted is not None and novelty is not None:
            fitted = replace(fitted, off_topic=novelty.off_topic)
        novelty = fitted or novelty
        if novelty is not None:
            novelty = novelty.adapted(history)
            reference = Reference(memory.corpus, memory.labels, len(classes))
            adviser = Adviser(novelty, reference)
            # a pool that the validation messages themselves taught would flatter itself on them
            flattered = fitted is not None and novelty.pool is fitted.pool is not None
            advise = adviser.of_others(held.labels) if flattered else adviser
            wrong_labels = adviser.wrong_labels
        said = ValidationPredictions.of(method, training_set, advise, wrong_labels)
        calibration = said.calibrate()
        validation = replace(said, kind=calibration.kind)
    elif learned:
        grew = len(classes) > len(model.classes_)
        calibration = ProbabilityCalibration.identity() if grew else calibration
        validation = ValidationPredictions.none(len(classes))
        report["notes"].append(
            "no validation messages in the memory: probabilities are not calibrated anew"
        )
        if novelty is not None:
            probe = fit_probe(memory.corpus, memory.labels, len(classes))
            novelty = replace(novelty, probe=probe).adapted(history)
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
    if learned and novelty is not None and novelty.pool is not None:
        report["experts"] = dict(zip(EXPERTS, novelty.pool.weights.round(3).tolist(), strict=True))
