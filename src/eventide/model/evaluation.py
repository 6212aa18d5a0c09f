"""How a model does on labelled messages: overall, per event, and whether its doubts are right.

Messages that a model was trained on say nothing about new ones, and those that chose its epoch
flatter it. So by default neither is evaluated where there are others, and a report always counts
both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import BaseModel

from eventide.data import Intake
from eventide.errors import InputError
from eventide.features.encoders import encoder_name
from eventide.methods.method import Prediction
from eventide.model.evaluated_rows import Standing, check_rows, rows_to_evaluate
from eventide.model.evaluation_notes import (
    left_out,
    protocol_of,
    rejected_rows_note,
    standing_notes,
    without_evidence,
)
from eventide.model.inference import Mask
from eventide.scoring.calibration_error import expected_calibration_error
from eventide.scoring.metrics import error_auroc, score
from eventide.scoring.selective import aurc, coverage_at_accuracy

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier


class EventScore(BaseModel):
    """One event: its messages, how many were found, and how many were wrongly put there."""

    event: str
    messages: int
    recall: float
    precision: float | None
    doubt: float
    uncertainty: float
    known: bool


class EvaluationReport(BaseModel):
    """All figures of one evaluation; ``protocol`` says how the messages were predicted.

    ``trained_on`` and ``validated_on`` count the evaluated messages that the model learned from,
    and those that chose its epoch (None where a model does not say). ``ece``, ``aurc`` and
    ``coverage_at_95`` (the share that can be kept with 95 % right) are of doubt, ``doubt_auroc``
    says how well it ranks errors first; ``error_auroc`` and ``uncertainty_...`` are of vacuity.
    """

    method: str
    preset: str
    encoder: str
    protocol: str
    rows: str
    messages: int
    trained_on: int
    validated_on: int | None
    rejected: int
    accuracy: float
    macro_f1: float
    nmi: float
    ami: float
    ari: float
    ece: float
    aurc: float
    coverage_at_95: float
    doubt_right: float | None
    doubt_wrong: float | None
    doubt_auroc: float | None
    uncertainty_right: float | None
    uncertainty_wrong: float | None
    error_auroc: float | None
    calibration: str
    events: list[EventScore]
    notes: list[str]


@dataclass(frozen=True, eq=False)
class Answered:
    """Labelled messages that were chosen and predicted: the truth, the answers, and notes."""

    rows: str
    standing: Standing
    prediction: Prediction
    truth: NDArray[np.str_]
    predicted: NDArray[np.str_]
    rejected: int
    notes: list[str]

    @property
    def wrong(self) -> Mask:
        """Whether the assigned event is another than the label [n]."""
        wrong: Mask = self.truth != self.predicted
        return wrong


def answered(
    model: EventClassifier,
    messages: Any,
    y: Any = None,
    *,
    rows: str = "auto",
    as_new: bool = False,
    allow_rejected: bool = False,
) -> Answered:
    """Predict labelled messages, chosen by ``rows`` as in `evaluate_model`.

    Those that calibrated the model are calibrated here by the others of them.
    """
    check_rows(rows)
    intake = model.intake(messages, y, allow_rejected=allow_rejected)
    model.rejected_ = intake.rejected
    labelled = intake.messages.filter(pl.col("event").is_not_null())
    if not len(labelled):
        raise InputError(
            f"no labelled message to evaluate: none of {len(intake.messages):,} has an event",
            where=f"column event of {intake.where}",
            next_step="label some messages, or map the column: --column event=NAME",
        )
    rows, mask, standing = rows_to_evaluate(model, labelled, rows)
    frame, taken = labelled.filter(pl.Series(mask)), standing.take(mask)
    match = taken.match.as_new() if as_new else taken.match
    said = model.inference.uncalibrated(frame, match)
    prediction = _calibrated(model, said, taken)
    truth = frame["event"].to_numpy().astype(str)
    return Answered(
        rows=rows,
        standing=taken,
        prediction=prediction,
        truth=truth,
        predicted=model.names_of(prediction.scored_as),
        rejected=len(intake.rejected),
        notes=[
            *standing_notes(
                taken, rows, unknown=int((~np.isin(truth, model.class_names)).sum()), as_new=as_new
            ),
            *without_evidence(int(prediction.undecided.sum())),
            *left_out(standing, mask, rows),
            *rejected_rows_note(intake),
            *(() if isinstance(messages, Intake) else intake.notes),
        ],
    )


def _calibrated(model: EventClassifier, said: Prediction, standing: Standing) -> Prediction:
    """Calibrate as the model does, but its own validation messages without their own labels."""
    found = said.calibrated(model.calibration_)
    if model.validation_ is None or model.validated_ is None or standing.validated is None:
        return found
    own = np.flatnonzero(standing.validated)
    if not len(own) or found is said:
        return found
    known = model.validated_.find(standing.match.keys.ids[own])
    probability = found.probability.copy()
    probability[own] = model.validation_.calibrate_again(known, said.probability[own])
    return replace(found, probability=probability)


def evaluate_model(
    model: EventClassifier,
    messages: Any,
    y: Any = None,
    *,
    rows: str = "auto",
    as_new: bool = False,
    allow_rejected: bool = False,
) -> EvaluationReport:
    """Predict labelled messages and compare with their labels.

    ``rows`` chooses among them. "test", "val" and "train" are the messages whose split says so;
    without a split, those the model validated with or was trained on. "unseen" are the ones that
    had no part in training, "all" is every labelled message. "auto" takes the test rows if there
    are any, else the unseen ones, else those that chose the epoch.
    """
    found = answered(model, messages, y, rows=rows, as_new=as_new, allow_rejected=allow_rejected)
    prediction, taken, wrong = found.prediction, found.standing, found.wrong
    figures = score(found.truth, found.predicted)
    return EvaluationReport(
        method=model.method,
        preset=model.preset,
        encoder=encoder_name(model.encoder),
        protocol=protocol_of(taken, as_new),
        rows=found.rows,
        messages=figures.messages,
        trained_on=int(taken.trained.sum()),
        validated_on=None if taken.validated is None else int(taken.validated.sum()),
        rejected=found.rejected,
        accuracy=figures.accuracy,
        macro_f1=figures.macro_f1,
        nmi=figures.nmi,
        ami=figures.ami,
        ari=figures.ari,
        ece=expected_calibration_error(1 - prediction.doubt, ~wrong),
        aurc=aurc(prediction.doubt, ~wrong),
        coverage_at_95=coverage_at_accuracy(prediction.doubt, ~wrong, 0.95),
        doubt_right=_mean(prediction.doubt[~wrong]),
        doubt_wrong=_mean(prediction.doubt[wrong]),
        doubt_auroc=error_auroc(wrong, prediction.doubt),
        uncertainty_right=_mean(prediction.vacuity[~wrong]),
        uncertainty_wrong=_mean(prediction.vacuity[wrong]),
        error_auroc=error_auroc(wrong, prediction.vacuity),
        calibration=model.calibration_.kind,
        events=_events(found.truth, found.predicted, prediction, model.class_names),
        notes=found.notes,
    )


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None


def _events(
    truth: NDArray[np.str_],
    predicted: NDArray[np.str_],
    prediction: Prediction,
    classes: NDArray[np.str_],
) -> list[EventScore]:
    events, counts = np.unique(truth, return_counts=True)
    found = []
    for event, count in sorted(zip(events, counts, strict=True), key=lambda pair: -pair[1]):
        own, put = truth == event, predicted == event
        both = int((own & put).sum())
        found.append(
            EventScore(
                event=str(event),
                messages=int(count),
                recall=both / int(count),
                precision=both / int(put.sum()) if put.any() else None,
                doubt=float(prediction.doubt[own].mean()),
                uncertainty=float(prediction.vacuity[own].mean()),
                known=bool(np.isin(str(event), classes)),
            )
        )
    return found
