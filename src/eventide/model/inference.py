"""Predictions of a fitted method: which messages the memory holds, and what is said of all."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus, Featuriser, Ints, MessageKeys
from eventide.graphs.keys import KeyIndex, Keys
from eventide.methods.method import Floats, Method, Prediction, together
from eventide.methods.trained import TrainedMethod
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.runtime.lazy import Lazy
from eventide.runtime.threads import threads_for

Mask = NDArray[np.bool_]
Advice = Callable[[Prediction, Corpus], Prediction]
"""Makes of what a method says of messages what is told."""


def _unchanged(said: Prediction, _corpus: Corpus) -> Prediction:
    return said


@dataclass(frozen=True)
class MemoryMatch:
    """Messages beside the memory: their hashed ids and texts, and the row of each (-1: new).

    A message with a known id and another text is new, because what the model remembers is not it.
    It counts as ``edited``.
    """

    keys: MessageKeys
    rows: Ints
    edited: Mask

    @classmethod
    def remembered(cls, memory: Corpus, rows: Ints) -> MemoryMatch:
        """Name messages of the memory by their rows."""
        keys = MessageKeys(memory.ids[rows], memory.texts[rows])
        return cls(keys, rows, np.zeros(len(rows), bool))

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
        advise: Advice | None = None,
    ) -> None:
        self.featuriser = featuriser
        self.memory = memory
        self.method = method
        self.calibration = calibration or ProbabilityCalibration.identity()
        self.advise = advise or _unchanged
        self.latest = int(memory.times.max()) if len(memory) else 0
        self._index = Lazy(self._index_ids)

    def joined(self, memory: Corpus, method: Method, fresh: Corpus) -> Inference:
        """Return the same beside a memory that has grown by ``fresh``, without reading it all."""
        other = copy(self)
        other.memory, other.method = memory, method
        other.latest = max(self.latest, int(fresh.times.max(initial=self.latest)))
        other._index = Lazy(other._index_ids)
        other._index.put(self._index.get().joined(fresh.ids))
        return other

    def match(self, frame: pl.DataFrame) -> MemoryMatch:
        """Find the messages in the memory."""
        keys = self.featuriser.keys(frame)
        rows = self._index.get().find(keys.ids)
        edited = (rows >= 0) & (self.memory.texts[rows] != keys.texts)
        return MemoryMatch(keys, np.where(edited, -1, rows), edited)

    def rows_of(self, ids: Keys) -> Ints:
        """Find the memory's row of each hashed id, -1 where there is none."""
        return self._index.get().find(ids)

    def predict(self, frame: pl.DataFrame, match: MemoryMatch) -> Prediction:
        """Predict remembered messages by their row, all others as new ones; calibrate them all."""
        return self.uncalibrated(frame, match).calibrated(self.calibration)

    def uncalibrated(self, frame: pl.DataFrame, match: MemoryMatch) -> Prediction:
        """Predict with the probabilities that the method, and who advises it, give."""
        parts = self.parts(frame, match)
        return together([(rows, self.advise(said, corpus)) for rows, said, corpus in parts])

    def predict_rows(self, rows: Ints) -> Prediction:
        """Predict messages of the memory, without calibration."""
        return self.advise(self.method.predict(rows), self.memory.take(rows))

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

    def embeddings(
        self, match: MemoryMatch, frame: pl.DataFrame | None = None
    ) -> dict[str, Floats]:
        """Return what the network makes of messages in each view [n, d]; see `TrainedMethod`.

        The ``frame`` holds the messages; it is not needed where the memory has them all.
        """
        if not isinstance(self.method, TrainedMethod):
            raise TypeError("this method has no network")
        runner = self.method.runner
        known, new = np.flatnonzero(match.rows >= 0), np.flatnonzero(match.rows < 0)
        found = []
        with threads_for(len(match.rows)):
            if len(known) or not len(new):
                found.append((known, runner.evaluate(match.rows[known])))
            if (
                len(new) and frame is not None
            ):  # not inside the graph: they read the memory, as in a prediction
                corpus = self.prepare(frame[new], match.keys.take(new))
                found.append((new, runner.evaluate_new(runner.look_up(corpus))))
        order = np.argsort(np.concatenate([rows for rows, _ in found]))
        return {
            view: np.concatenate(
                [each[view].embeddings.double().cpu().numpy() for _, each in found]
            )[order]
            for view in found[0][1]
        }

    def prepare(self, frame: pl.DataFrame, keys: MessageKeys) -> Corpus:
        """Featurise new messages; one without a time is as late as the latest of the memory.

        So its neighbours are weighed as for a message that has just come in.
        """
        return self.featuriser.prepare(frame, keys, missing_time=self.latest)

    def _index_ids(self) -> KeyIndex:
        return KeyIndex(self.memory.ids)
