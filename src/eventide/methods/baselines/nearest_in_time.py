"""``nearest-in-time``: the event of the training message nearest in time, text unread.

A baseline of ours [C]. Events of a collection hardly overlap in time, so a timestamp alone says
much; whoever reads a table must know how much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import UNLABELLED, TrainingSet
from eventide.methods.single_step import Logits, SingleStepMethod, messages_of

VOTERS = 8
SMOOTHING = 0.01


class NearestInTime(SingleStepMethod):
    """Of the 8 nearest training messages each has half the say of the one before it.

    So the nearest always decides, and the others say how sure one can be. Times count in
    milliseconds. Of messages at the same time, or equally far before and after, the one of the
    smaller class comes first. A remembered training message is its own nearest one. A saved model
    keeps when each message of its memory was written, to the millisecond.
    """

    times: Ints
    """When each message of the memory was written."""
    labels: Ints
    counts: Ints

    def learn(self, training_set: TrainingSet) -> Logits:
        """Note when the training messages were written."""
        self.times = _milliseconds(training_set.corpus)
        self.labels, self.counts = training_set.labels, training_set.class_counts
        return self._vote(self.times)

    def logits(self, corpus: Corpus) -> Logits:
        """Ask the training messages nearest in time."""
        return self._vote(_milliseconds(corpus))

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return times and labels row by row, so that forgotten messages lose their vote."""
        return {"rows.times": self.times, "rows.labels": self.labels, "counts": self.counts}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take them back."""
        self.times, self.labels = arrays["rows.times"], arrays["rows.labels"]
        self.counts = arrays["counts"]

    def _vote(self, wanted: Ints) -> Logits:
        votes = np.zeros((len(wanted), len(self.counts)))
        known = self.labels != UNLABELLED
        if known.any():
            times, labels = _one_per_time(self.times[known], self.labels[known], self.counts)
            votes = nearest_votes(wanted, times, labels, self.counts)
        return np.log((1 - SMOOTHING) * votes + SMOOTHING / votes.shape[1]).astype(np.float32)


def nearest_votes(wanted: Ints, times: Ints, labels: Ints, counts: Ints) -> NDArray[np.float64]:
    """Share one vote [wanted, C] among the nearest of ``times``, which are sorted and distinct.

    >>> times, labels, counts = np.array([0, 10, 40]), np.array([0, 1, 0]), np.array([2, 1])
    >>> nearest_votes(np.array([12, 5]), times, labels, counts).round(3).tolist()
    [[0.429, 0.571], [0.429, 0.571]]
    """
    around = np.searchsorted(times, wanted)[:, None] + np.arange(-VOTERS, VOTERS)
    inside = (around >= 0) & (around < len(times))
    around = np.clip(around, 0, len(times) - 1)
    distance = np.where(inside, np.abs(times[around] - wanted[:, None]), np.iinfo(np.int64).max)
    order = np.lexsort((labels[around], counts[labels[around]], distance))[:, :VOTERS]
    nearest = np.take_along_axis(around, order, axis=1)
    weight = 0.5 ** np.arange(1, order.shape[1] + 1) * np.take_along_axis(inside, order, axis=1)
    votes = np.zeros((len(wanted), len(counts)))
    np.add.at(votes, (np.arange(len(wanted))[:, None], labels[nearest]), weight)
    votes /= votes.sum(axis=1, keepdims=True)
    return votes


def _one_per_time(times: Ints, labels: Ints, counts: Ints) -> tuple[Ints, Ints]:
    order = np.lexsort((labels, counts[labels], times))
    distinct, first = np.unique(times[order], return_index=True)
    return distinct, labels[order][first]


def _milliseconds(corpus: Corpus) -> Ints:
    written: Ints = messages_of(corpus)["created_at"].dt.timestamp("ms").to_numpy().copy()
    return written
