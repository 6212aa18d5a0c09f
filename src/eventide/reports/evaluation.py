"""How a model does on labelled messages: overall, per event, and whether its doubts are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel

from eventide.classifier import EventClassifier
from eventide.errors import InputError
from eventide.scoring.metrics import error_auroc, score


class EventScore(BaseModel):
    """One event: its messages, how many were found, and how many were wrongly put there."""

    event: str
    messages: int
    recall: float
    precision: float | None
    uncertainty: float
    known: bool


class EvaluationReport(BaseModel):
    """All figures of one evaluation; ``protocol`` says how the messages were judged."""

    method: str
    preset: str
    encoder: str
    protocol: str
    rows: str
    messages: int
    accuracy: float
    macro_f1: float
    nmi: float
    ami: float
    ari: float
    uncertainty_right: float | None
    uncertainty_wrong: float | None
    error_auroc: float | None
    events: list[EventScore]
    notes: list[str]


def evaluate_model(
    model: EventClassifier, messages: Any, *, rows: str = "auto", as_new: bool = False
) -> EvaluationReport:
    """Judge labelled messages and compare; ``rows`` is a split's name, "all", or "auto".

    "auto" takes the rows whose split is test where there are any, and all labelled rows otherwise.
    """
    frame = model.read_messages(messages).filter(pl.col("event").is_not_null())
    if rows == "auto":
        rows = "test" if (frame["split"] == "test").any() else "all"
    if rows != "all":
        frame = frame.filter(pl.col("split") == rows)
    if not len(frame):
        raise InputError(
            f"no labelled message to evaluate (rows: {rows})",
            where="columns event and split",
            next_step="choose --rows all, or label some messages",
        )
    remembered = 0 if as_new else int((model.remembered_rows(frame) >= 0).sum())
    opinions = model.opinions(frame, as_new=as_new)
    truth = frame["event"].to_numpy()
    predicted = opinions["event"].to_numpy()
    uncertainty = opinions["uncertainty"].to_numpy()
    wrong = truth != predicted
    figures = score(truth, predicted)
    unknown = int((~np.isin(truth.astype(str), model.classes_)).sum())
    notes = []
    if unknown:
        notes.append(
            f"{unknown} messages are of events the model does not know: all count as wrong"
        )
    return EvaluationReport(
        method=model.method,
        preset=model.preset,
        encoder=model.encoder,
        protocol=_protocol(remembered, len(frame)),
        rows=rows,
        messages=figures.messages,
        accuracy=figures.accuracy,
        macro_f1=figures.macro_f1,
        nmi=figures.nmi,
        ami=figures.ami,
        ari=figures.ari,
        uncertainty_right=_mean(uncertainty[~wrong]),
        uncertainty_wrong=_mean(uncertainty[wrong]),
        error_auroc=error_auroc(wrong, uncertainty),
        events=_events(truth, predicted, uncertainty, model.classes_),
        notes=notes,
    )


def _protocol(remembered: int, messages: int) -> str:
    if remembered == messages:
        return "transductive (every message was in the graph during training)"
    if remembered == 0:
        return "inductive (every message is new to the model)"
    return f"mixed ({remembered} of {messages} messages were in the graph during training)"


def _mean(values: Any) -> float | None:
    return float(values.mean()) if len(values) else None


def _events(truth: Any, predicted: Any, uncertainty: Any, classes: Any) -> list[EventScore]:
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
                uncertainty=float(uncertainty[own].mean()),
                known=bool(np.isin(str(event), classes)),
            )
        )
    return found
