"""What a model saw of messages before it learned their labels: how it fares in its stream.

A label that comes after the message was assigned tests the model honestly, and then trains it.
Older messages make room for later ones, so that what is learned from here is of the last days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eventide.novelty.experts import EXPERTS
from eventide.novelty.signals import FITTED, SIGNALS, pool_signals
from eventide.opinions.log_pool import LogarithmicPool

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
STATE = "stream"
"""How its arrays are called in a saved model; "history" were scores of another time expert."""
UNKNOWN = -1
"""The class of a message about an event that was not known when it came."""
MOST_KNOWN, MOST_NEW, MOST_RECENT = 300, 100, 200
"""Labelled messages of known and of new events that are kept, and messages with or without label.
"""


@dataclass(frozen=True, eq=False)
class MessageRecord:
    """What was seen of n messages: signals [n, S] and expert scores [n, C, K].

    Scores are NaN for classes that there were not.
    """

    signals: Floats
    scores: NDArray[np.float32]

    @classmethod
    def none(cls, classes: int) -> Self:
        """Return the record of no message."""
        scores = np.zeros((0, classes, len(EXPERTS)), dtype=np.float32)
        return cls(np.zeros((0, len(SIGNALS))), scores)

    def __len__(self) -> int:
        return len(self.signals)

    def take(self, rows: Any) -> MessageRecord:
        """Return some of the messages."""
        return MessageRecord(self.signals[rows], self.scores[rows])

    def joined(self, other: MessageRecord, classes: int) -> MessageRecord:
        """Return these messages and, after them, others; there are ``classes`` classes now."""
        scores = [_widened(each.scores, classes) for each in (self, other)]
        signals = np.concatenate([self.signals, other.signals])
        return MessageRecord(signals, np.concatenate(scores))

    def table(self, pool: LogarithmicPool | None) -> Floats:
        """Return the signals [n, S] with those of a pool as it is now."""
        if pool is None:
            return self.signals
        there = np.asarray(np.isfinite(self.scores).all(axis=2))
        logits = np.where(there[:, :, None], self.scores, 0).astype(np.float64) @ pool.weights
        found = self.signals.copy()
        found[:, FITTED:] = pool_signals(np.where(there, logits, -np.inf))
        return found


@dataclass(frozen=True, eq=False)
class StreamHistory:
    """Messages as they came: those labelled since, with their class or `UNKNOWN`, and the latest.

    ``recent`` are labelled or not: which messages are labelled is a choice, and only all of them
    say how many would be called new.
    """

    labelled: MessageRecord
    classes: Ints
    recent: MessageRecord

    @classmethod
    def none(cls, classes: int) -> Self:
        """Nothing has come yet."""
        nobody = MessageRecord.none(classes)
        return cls(nobody, np.zeros(0, dtype=np.int64), nobody)

    def joined(self, came: MessageRecord, truth: Ints, *, classes: int) -> StreamHistory:
        """Take in messages; ``truth`` [n] is a class, or -1 without a label.

        A class that their scores lack was not known. There are ``classes`` classes now.
        """
        labelled = truth >= 0
        was = np.where(truth < came.scores.shape[1], truth, UNKNOWN)[labelled]
        both = self.labelled.joined(came.take(labelled), classes)
        kinds = np.concatenate([self.classes, was])
        known, new = np.flatnonzero(kinds >= 0), np.flatnonzero(kinds == UNKNOWN)
        kept = np.sort(np.concatenate([known[-MOST_KNOWN:], new[-MOST_NEW:]]))
        recent = self.recent.joined(came, classes).take(slice(-MOST_RECENT, None))
        return StreamHistory(both.take(kept), kinds[kept], recent)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which of the labelled messages are about events that were known [h]."""
        return np.asarray(self.classes != UNKNOWN)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` reads back."""
        return {
            f"{STATE}.signals": self.labelled.signals,
            f"{STATE}.scores": self.labelled.scores,
            f"{STATE}.classes": self.classes,
            f"{STATE}.recent.signals": self.recent.signals,
            f"{STATE}.recent.scores": self.recent.scores,
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> Self | None:
        """Read what ``state`` gave; None of a model that has none; ValueError if it is damaged."""
        if f"{STATE}.classes" not in arrays:
            return None
        classes = arrays[f"{STATE}.classes"]
        labelled, recent = (
            MessageRecord(arrays[f"{part}.signals"], arrays[f"{part}.scores"])
            for part in (STATE, f"{STATE}.recent")
        )
        for each in (labelled, recent):
            same = each.signals.ndim == 2 and each.scores.ndim == 3
            if not same or each.signals.shape != (len(each.scores), len(SIGNALS)):
                raise ValueError("the history is not of this eventide's signals")
            if each.scores.shape[2] != len(EXPERTS):
                raise ValueError("the history is not of this eventide's experts")
        events = labelled.scores.shape[1]
        if len(classes) != len(labelled) or classes.max(initial=UNKNOWN) >= events:
            raise ValueError("the history is not of this model's events")
        return cls(labelled, classes, recent)


def _widened(scores: NDArray[np.float32], classes: int) -> NDArray[np.float32]:
    whole = np.full((len(scores), classes, len(EXPERTS)), np.nan, dtype=np.float32)
    whole[:, : scores.shape[1]] = scores
    return whole
