"""The prediction sets of a model: limits from what it said of its validation messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventide.errors import InputError
from eventide.opinions.prediction_sets import PredictionSets, check_coverage

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier


def prediction_sets(
    model: EventClassifier, coverage: float = 0.9, kind: str = "clustered"
) -> PredictionSets:
    """Fit prediction sets on the validation predictions that the model keeps."""
    check_coverage(coverage)
    kept = model.validation_
    if kept is None or not len(kept):
        raise InputError(
            "the model keeps no validation predictions to make sets of events from",
            next_step="train again with validation messages (without a column split a tenth is "
            "held out)",
        )
    return kept.prediction_sets(coverage, kind)
