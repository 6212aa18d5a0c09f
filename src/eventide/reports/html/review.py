"""From which doubt on a person should read a message, and who said so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eventide.model import EventClassifier

USUAL = 0.5
"""Where nobody has chosen: more likely wrong than right."""


@dataclass(frozen=True)
class ReviewRule:
    """Messages with a doubt above ``threshold`` are for people; ``source`` says why there."""

    threshold: float
    source: str


def review_rule(model: EventClassifier) -> ReviewRule:
    """Return the model's own threshold, or the usual one."""
    return ReviewRule(USUAL, "more likely wrong than right; no threshold was chosen for this model")
