"""How far the model can be trusted, from messages whose event is known: reviewed or held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from eventide.model import EventClassifier
from eventide.scoring.calibration_error import doubt_of
from eventide.scoring.selective import risk_coverage
from eventide.serving.store import MESSAGES, Store

BINS, POINTS, FEWEST = 10, 101, 10
REVIEWED_NOTE = (
    "These are messages that people reviewed, and doubtful ones are reviewed first: "
    "the model is better on the whole stream than here."
)


@dataclass(frozen=True)
class Checked:
    """Messages whose event is known: what was predicted, with what doubt, and what is true."""

    event: Sequence[str]
    truth: Sequence[str]
    doubt: NDArray[np.float64]
    vacuity: NDArray[np.float64]
    source: str
    note: str


def reviewed_messages(store: Store) -> Checked:
    """Return the messages that people have reviewed."""
    columns = MESSAGES.c
    query = select(columns.event, columns.review_event, columns.doubt, columns.vacuity).where(
        columns.review_action.is_not(None)
    )
    with store.reading() as connection:
        rows = connection.execute(query.order_by(columns.reviewed_at.desc()).limit(20_000)).all()
    return Checked(
        [row[0] for row in rows],
        [row[1] or "" for row in rows],
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.float64),
        "reviewed",
        REVIEWED_NOTE,
    )


def validation_messages(model: EventClassifier) -> Checked | None:
    """Return what a model keeps of its validation messages, if it has enough of them."""
    kept = model.validation_
    if kept is None or len(kept) < FEWEST:
        return None
    names = model.class_names
    doubt = doubt_of(kept.calibrated, kept.predicted)
    return Checked(
        [str(each) for each in names[kept.predicted]],
        [str(each) for each in names[kept.truth]],
        doubt,
        doubt,
        "validation",
        "These are validation messages: the model was not trained on them, but its epoch was "
        "chosen on them. Held-out messages say more.",
    )


def held_out_messages(model: EventClassifier, source: Any) -> Checked:
    """Predict labelled messages that had no part in training: test rows, else unseen ones."""
    from eventide.model.evaluated_rows import Standing

    frame = model.intake(source, allow_rejected=True).messages
    frame = frame.filter(frame["event"].is_not_null())
    test = frame.filter(frame["split"] == "test")
    if not len(test):
        test = frame.filter(Standing.of(model, frame).unseen)
    prediction = model.inference.predict(test, model.inference.match(test))
    return Checked(
        model.names_of(prediction.predicted).tolist(),
        test["event"].to_list(),
        np.asarray(prediction.doubt),
        np.asarray(prediction.uncertainty),
        "held-out",
        "These are labelled messages that the model was not trained on.",
    )


def trust(checked: Checked) -> dict[str, Any]:
    """Return the curves: risk against coverage, reliability, and each event's doubt and error."""
    right = np.array(
        [event == truth for event, truth in zip(checked.event, checked.truth, strict=True)],
        dtype=bool,
    )
    count = len(right)
    curve = risk_coverage(checked.doubt, right)
    last = len(curve.kept) - 1
    points = np.unique(np.linspace(0, last, min(POINTS, last + 1)).round().astype(int))
    return {
        "source": checked.source,
        "note": checked.note,
        "messages": count,
        "accuracy": float(right.mean()) if count else None,
        "curve": [
            {
                "threshold": float(curve.doubt[at]),
                "coverage": float(curve.coverage[at]),
                "accuracy": float(1 - curve.risk[at]),
            }
            for at in points
        ],
        "reliability": _reliability(1 - checked.doubt, right),
        "events": _events(checked, right),
    }


def _reliability(
    probability: NDArray[np.float64], right: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    bins = np.minimum((probability.clip(0, 1) * BINS).astype(int), BINS - 1)
    return [
        {
            "probability": float(probability[bins == at].mean()),
            "accuracy": float(right[bins == at].mean()),
            "messages": int((bins == at).sum()),
        }
        for at in range(BINS)
        if (bins == at).any()
    ]


def _events(checked: Checked, right: NDArray[np.bool_]) -> list[dict[str, Any]]:
    truth = np.array([name or "(none of the known events)" for name in checked.truth], dtype=object)
    found = []
    for event in sorted(set(truth.tolist())):
        own = truth == event
        found.append(
            {
                "event": event,
                "messages": int(own.sum()),
                "error": float(1 - right[own].mean()),
                "doubt": float(checked.doubt[own].mean()),
                "uncertainty": float(checked.vacuity[own].mean()),
            }
        )
    return found
