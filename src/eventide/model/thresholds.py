"""Which doubt to act on: keep what is below a threshold, look at the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from eventide.errors import BadSetting, InputError
from eventide.model.evaluation import answered
from eventide.scoring.calibration_error import doubt_of
from eventide.scoring.selective import kept_at_accuracy

if TYPE_CHECKING:
    from eventide.model.classifier import EventClassifier

CHOSEN_ON = (
    "these messages also chose the epoch: expect a little less on new ones; each was calibrated "
    "without itself"
)
SHOWN = (0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
"""Accuracies of the table, beside the one that is asked for."""


class ThresholdRow(BaseModel):
    """What comes of one threshold: keep messages whose doubt is below it, look at the others.

    ``right`` is the share of kept messages that are right, between ``low`` and ``high`` with 95 %
    confidence. Where no share of the messages is so often right, none are kept.
    """

    accuracy: float
    reached: bool
    threshold: float
    kept: float
    kept_messages: int
    right: float | None
    low: float
    high: float
    to_review: int


class Thresholds(BaseModel):
    """Thresholds of doubt for several accuracies; ``asked`` is the row of the wanted one."""

    messages: int
    source: str
    asked: ThresholdRow
    rows: list[ThresholdRow]
    notes: list[str]

    def sentence(self) -> str:
        """Say the answer in a sentence."""
        found = self.asked
        if not found.reached or found.right is None:
            return (
                f"{found.accuracy * 100:.4g}% right cannot be reached by any threshold of doubt "
                f"on these {self.messages:,} messages: look at all of them"
            )
        return (
            f"keep {found.kept:.0%}, {found.right:.1%} right; "
            f"{found.to_review:,} of {self.messages:,} messages to look at"
        )


def check_accuracy(accuracy: float) -> None:
    """Refuse an accuracy that is no share, before anything is read."""
    if not 0 < accuracy <= 1:
        raise BadSetting(
            f"an accuracy of {accuracy!r} is not possible",
            next_step="give a share between 0 and 1, such as 0.95",
        )


def thresholds_of(
    model: EventClassifier, accuracy: float = 0.95, messages: Any = None
) -> Thresholds:
    """Choose thresholds on labelled ``messages``, or on the model's validation predictions."""
    check_accuracy(accuracy)
    if messages is None:
        kept = model.validation_
        if kept is None or not len(kept):
            raise InputError(
                "the model keeps no validation predictions to choose a threshold on",
                next_step="give a file of labelled messages, or train again with validation "
                "messages (without a column split a tenth is held out)",
            )
        believed = kept.believed
        doubt, right = doubt_of(kept.calibrated, kept.predicted)[believed], kept.right[believed]
        source, notes = "validation messages", [CHOSEN_ON]
        if len(doubt) < len(kept):
            notes.append(f"{len(kept) - len(doubt):,} whose labels look wrong are left out")
    else:
        found = answered(model, messages)
        doubt, right = found.prediction.doubt, ~found.wrong
        source, notes = f"{found.rows} messages", found.notes
    rows = [_row(doubt, right, each) for each in sorted({*SHOWN, accuracy})]
    asked = next(row for row in rows if row.accuracy == accuracy)
    return Thresholds(messages=len(doubt), source=source, asked=asked, rows=rows, notes=notes)


def _row(doubt: NDArray[np.float64], right: NDArray[np.bool_], accuracy: float) -> ThresholdRow:
    kept = kept_at_accuracy(doubt, right, accuracy)
    low, high = kept.interval()
    return ThresholdRow(
        accuracy=accuracy,
        reached=kept.messages > 0,
        threshold=kept.doubt,
        kept=kept.messages / len(doubt),
        kept_messages=kept.messages,
        right=kept.right / kept.messages if kept.messages else None,
        low=low,
        high=high,
        to_review=len(doubt) - kept.messages,
    )
