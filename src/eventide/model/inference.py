"""Predictions of a fitted method: which messages the memory holds, and what is said of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus, Featuriser, Ints, MessageKeys
from eventide.graphs.keys import KeyIndex
from eventide.methods.method import Method, Prediction, together
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.runtime.lazy import Lazy
from eventide.runtime.threads import threads_for

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class MemoryMatch:
    """Messages beside the memory: their hashed ids and texts, and the row of each (-1: new).

    A message with a known id and another text is new, because what the model remembers is not it.
    It counts as ``edited``.
    """

    keys: MessageKeys
    rows: Ints
    edited: Mask

    def as_new(self) -> MemoryMatch:
        """Take all messages for new ones, whatever the memory holds."""
        return MemoryMatch(self.keys, np.full_like(self.rows, -1), np.zeros_like(self.edited))

    def take(self, rows: Ints | Mask) -> MemoryMatch:
        """Return the same of some of the messages."""
        return MemoryMatch(self.keys.take(rows), self.rows[rows], self.edited[rows])


class Inference:
    """A fitted method beside its memory, ready to be asked by any number of threads.

    Ids and texts are hashed once for each question, by ``match``. Frames are canonical, with
    elements filled in (see `eventide.corpus.messages`).
    """

    def __init__(
        self,
        featuriser: Featuriser,
        memory: Corpus,
        method: Method,
        calibration: ProbabilityCalibration | None = None,
    ) -> None:
        self.featuriser = featuriser
        self.memory = memory
        self.method = method
        self.calibration = calibration or ProbabilityCalibration.identity()
        self._latest = int(memory.times.max()) if len(memory) else 0
        self._index = Lazy(self._index_ids)

    def match(self, frame: pl.DataFrame) -> MemoryMatch:
        """Find the messages in the memory."""
        keys = self.featuriser.keys(frame)
        rows = self._index.get().find(keys.ids)
        edited = (rows >= 0) & (self.memory.texts[rows] != keys.texts)
        return MemoryMatch(keys, np.where(edited, -1, rows), edited)

    def predict(self, frame: pl.DataFrame, match: MemoryMatch) -> Prediction:
        """Predict remembered messages by their row, all others as new ones; calibrate them all."""
        return self.uncalibrated(frame, match).calibrated(self.calibration)

    def uncalibrated(self, frame: pl.DataFrame, match: MemoryMatch) -> Prediction:
        """Predict with the probabilities that the method gives."""
        return together([(rows, said) for rows, said, _ in self.parts(frame, match)])

    def parts(
        self, frame: pl.DataFrame, match: MemoryMatch
    ) -> list[tuple[Ints, Prediction, Corpus]]:
        """Predict remembered and new messages apart: their indices, the prediction, the corpus.

        Probabilities are those that the method gives.
        """
        known, new = np.flatnonzero(match.rows >= 0), np.flatnonzero(match.rows < 0)
        parts = []
        with threads_for(len(frame)):
            if len(known) or not len(new):
                remembered = match.rows[known]
                said = self.method.predict(remembered)
                parts.append((known, said, self.memory.take(remembered)))
            if len(new):
                unseen, keys = frame, match.keys
                if len(known):
                    unseen, keys = frame[new], keys.take(new)
                corpus = self.prepare(unseen, keys)
                parts.append((new, self.method.predict_new(corpus), corpus))
        return parts

    def prepare(self, frame: pl.DataFrame, keys: MessageKeys) -> Corpus:
        """Featurise new messages; one without a time is as late as the latest of the memory.

        So its neighbours are weighed as for a message that has just come in.
        """
        return self.featuriser.prepare(frame, keys, missing_time=self._latest)

    def _index_ids(self) -> KeyIndex:
        return KeyIndex(self.memory.ids)
