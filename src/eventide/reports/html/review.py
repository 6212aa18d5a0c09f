"""From which doubt on a person should read a message, and who said so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from eventide.model import EventClassifier

USUAL = 0.5
"""Where nothing can be chosen: more likely wrong than right."""
ACCURACY = 0.95
"""How many of the messages that nobody reads should be right."""


@dataclass(frozen=True)
class ReviewRule:
    """Messages with a doubt of ``threshold`` or more are for people; ``source`` says why there."""

    threshold: float
    source: str

    def to_read(self, doubt: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which messages a person should read."""
        found: NDArray[np.bool_] = doubt >= self.threshold
        return found


def review_rule(model: EventClassifier, accuracy: float = ACCURACY) -> ReviewRule:
    """Choose the threshold on the model's validation messages, as `eventide thresholds` does."""
    from eventide.model.thresholds import check_accuracy, thresholds_of

    check_accuracy(accuracy)
    kept = model.validation_
    if kept is None or not len(kept):
        return ReviewRule(USUAL, "more likely wrong than right")
    found = thresholds_of(model, accuracy).asked
    if not found.reached:
        return ReviewRule(
            USUAL, f"more likely wrong than right; no threshold gives {accuracy:.4g} right"
        )
    return ReviewRule(
        found.threshold,
        f"below it {found.right:.1%} of {found.kept_messages:,} validation messages were right",
    )
