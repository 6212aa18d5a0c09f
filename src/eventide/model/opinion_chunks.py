"""Opinions on any number of messages: some thousand at a time, so that memory stays bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eventide.model.inference import MemoryMatch
from eventide.model.novelty_scores import judged, with_verdicts
from eventide.model.opinion_frame import opinion_frame
from eventide.opinions.prediction_sets import PredictionSets
from eventide.progress import track

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

CHUNK = 10_000
"""Messages that are predicted at a time; each by itself, so that the number changes no opinion."""


def chunked_opinions(
    model: EventClassifier,
    frame: pl.DataFrame,
    match: MemoryMatch,
    *,
    sets: PredictionSets | None = None,
    false_alarms: float | None = None,
    chunk: int = CHUNK,
) -> pl.DataFrame:
    """Return one row of opinions for each message of ``frame``, which ``match`` has looked up."""
    parts = []
    starts = range(0, max(len(frame), 1), chunk)
    for start in track(starts, f"assigning events to {len(frame):,} messages", total=len(starts)):
        some = frame if len(starts) == 1 else frame.slice(start, chunk)
        known = match if len(starts) == 1 else match.take(np.arange(start, start + len(some)))
        parts.append(_opinions(model, some, known, sets, false_alarms))
    return parts[0] if len(parts) == 1 else pl.concat(parts)


def _opinions(
    model: EventClassifier,
    frame: pl.DataFrame,
    match: MemoryMatch,
    sets: PredictionSets | None,
    false_alarms: float | None,
) -> pl.DataFrame:
    parts = model.inference.parts(frame, match)
    prediction, verdicts = judged(model, parts, false_alarms)
    opinions = opinion_frame(frame["id"], prediction, model.classes_, sets)
    return with_verdicts(opinions, verdicts)
