"""Whether the stream still looks like the training messages: shares of events, and doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from eventide.scoring.calibration_error import doubt_of
from eventide.serving.live_model import LoadedModel
from eventide.serving.store import MESSAGES, Store

RECENT, REFERENCE, FEWEST = 1_000, 1_000, 30
"""Messages of the stream and of the memory that are compared, and the fewest that say anything."""

EDGES = np.linspace(0, 1, 11)
MILD, STRONG = 0.1, 0.25
"""Usual readings of the population stability index."""


def stability_index(expected: Sequence[float], found: Sequence[float]) -> float:
    """Return the population stability index of two histograms; half a count is added to each bin.

    >>> round(stability_index([50, 50], [50, 50]), 6)
    0.0
    >>> stability_index([90, 10], [10, 90]) > 0.25
    True
    """
    before, now = np.asarray(expected, float) + 0.5, np.asarray(found, float) + 0.5
    before, now = before / before.sum(), now / now.sum()
    return float(((now - before) * np.log(now / before)).sum())


def reading(index: float | None) -> str:
    """Say what an index means."""
    if index is None or math.isnan(index):
        return "too few messages to say"
    if index < MILD:
        return "as in training"
    return "somewhat different from training" if index < STRONG else "different from training"


def reference_doubt(loaded: LoadedModel) -> NDArray[np.float64]:
    """Return the doubt of validation messages, else of remembered ones, unlabelled if possible.

    A model is surer of messages whose labels it was trained on, so these would be a poor measure.
    """
    model = loaded.classifier
    kept = model.validation_
    if kept is not None and len(kept) >= FEWEST:
        return doubt_of(kept.calibrated, kept.predicted)
    rows = np.flatnonzero(model.labels_ < 0)
    if len(rows) < FEWEST:
        rows = np.arange(len(model.memory_))
    if len(rows) > REFERENCE:
        rows = rows[np.linspace(0, len(rows) - 1, REFERENCE).astype(int)]
    if not len(rows):
        return np.zeros(0)
    return model.inference.predict_rows(rows).doubt


def drift(store: Store, loaded: LoadedModel, reference: NDArray[np.float64]) -> dict[str, Any]:
    """Compare the newest messages with the training messages."""
    query = select(MESSAGES.c.event, MESSAGES.c.doubt, MESSAGES.c.verdict)
    with store.reading() as connection:
        rows = connection.execute(query.order_by(MESSAGES.c.seq.desc()).limit(RECENT)).all()
    enough = len(rows) >= FEWEST
    training: Mapping[str, int] = loaded.class_counts
    found = dict.fromkeys(training, 0)
    for event, _, _ in rows:
        found[event] = found.get(event, 0) + 1
    expected = [training.get(event, 0) for event in found]
    events = stability_index(expected, list(found.values())) if enough and found else None
    before = np.histogram(reference, EDGES)[0]
    now = np.histogram([min(max(doubt, 0.0), 1.0) for _, doubt, _ in rows], EDGES)[0]
    doubts = stability_index(before.tolist(), now.tolist()) if enough and len(reference) else None
    whole = sum(training.values()) or 1
    return {
        "messages": len(rows),
        "reference_messages": len(reference),
        "events": {
            "index": events,
            "reading": reading(events),
            "shares": [
                {
                    "event": event,
                    "training": training.get(event, 0) / whole,
                    "stream": count / len(rows) if rows else None,
                }
                for event, count in found.items()
            ],
        },
        "doubt": {
            "index": doubts,
            "reading": reading(doubts),
            "edges": EDGES.round(1).tolist(),
            "training": before.tolist(),
            "stream": now.tolist(),
            "training_mean": float(reference.mean()) if len(reference) else None,
            "stream_mean": float(np.mean([doubt for _, doubt, _ in rows])) if rows else None,
        },
        "new": sum(verdict == "new" for _, _, verdict in rows),
    }
