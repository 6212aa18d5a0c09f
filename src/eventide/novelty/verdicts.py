"""A verdict for every message, with the reason in words: known, review or new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eventide.novelty.detector import FALSE_ALARMS, NoveltyDetector
from eventide.novelty.signals import SIGNALS, MessageEvidence, signal_table

Floats = NDArray[np.float64]
KNOWN, REVIEW, NEW = "known", "review", "new"
DOUBTFUL = 0.2
"""A known message with this doubt or more is to be reviewed."""
NEARLY = 2.0
"""A message is reviewed too where so many times the false alarms would call it new."""

WORDS = {
    "vacuity": "hardly any evidence for a known event",
    "entropy": "no event stands out",
    "probe": "its words fit no single event",
    "nearest": "no labelled message is near",
    "centroid": "far from the centre of every event",
    "elements": "{unknown} of its {elements} elements are unknown",
    "pool": "no event stands out by words, elements and days",
    "misfit": "no event fits it by words, elements and days",
}
OFF_TOPIC = "off-topic: like messages that were dismissed"
NOT_MEASURED = "novelty not measured: too few validation messages, or an older model"


@dataclass(frozen=True)
class Verdicts:
    """The verdict, novelty and reason of n messages; novelty is NaN where it is not measured."""

    verdict: NDArray[np.str_]
    novelty: Floats
    reason: list[str]


def judge_messages(
    detector: NoveltyDetector,
    evidence: MessageEvidence,
    doubt: Floats,
    *,
    false_alarms: float = FALSE_ALARMS,
    dismissed: NDArray[np.bool_] | None = None,
) -> Verdicts:
    """Say of n messages whether they are known, to be reviewed, or new, and why.

    Messages like ``dismissed`` ones [n] are never new, but to be reviewed.
    """
    table = signal_table(evidence)
    novelty = detector.novelty(table)
    new = novelty > detector.threshold(false_alarms)
    off = np.zeros(len(new), dtype=bool) if dismissed is None else new & dismissed
    new &= ~off
    nearly = novelty > detector.threshold(min(1.0, NEARLY * false_alarms))
    verdict = _verdict(new, nearly | (doubt >= DOUBTFUL))
    order = np.argsort(-detector.contributions(table), axis=1)[:, :2]
    names, found = list(SIGNALS), evidence.comparison

    def words(row: int) -> str:
        said = [names[each] for each in order[row]]
        if not found.elements[row]:
            said = [name for name in said if name != "elements"]
        counts = {"unknown": found.unknown[row], "elements": found.elements[row]}
        return ", ".join(WORDS[name].format(**counts) for name in said)

    reason = [
        f"new: {words(row)}"
        if new[row]
        else OFF_TOPIC
        if off[row]
        else f"perhaps new: {words(row)}"
        if nearly[row]
        else doubt_in_words(doubt[row])
        for row in range(len(novelty))
    ]
    return Verdicts(verdict, novelty, reason)


def without_novelty(doubt: Floats) -> Verdicts:
    """Say of n messages whether they are known or to be reviewed, by their doubt alone.

    >>> found = without_novelty(np.array([0.01, 0.6]))
    >>> found.verdict.tolist(), found.reason[1][:32]
    (['known', 'review'], 'doubt 0.60 (novelty not measured')
    """
    verdict = _verdict(np.zeros(len(doubt), dtype=bool), doubt >= DOUBTFUL)
    reason = [f"{doubt_in_words(each)} ({NOT_MEASURED})" for each in doubt]
    return Verdicts(verdict, np.full(len(doubt), np.nan), reason)


def doubt_in_words(doubt: float) -> str:
    """Say how doubtful the assignment is.

    >>> doubt_in_words(0.004), doubt_in_words(0.3)
    ('fits a known event', 'doubt 0.30')
    """
    return f"doubt {doubt:.2f}" if doubt >= DOUBTFUL else "fits a known event"


def _verdict(new: NDArray[np.bool_], doubtful: NDArray[np.bool_]) -> NDArray[np.str_]:
    return np.where(new, NEW, np.where(doubtful, REVIEW, KNOWN))
