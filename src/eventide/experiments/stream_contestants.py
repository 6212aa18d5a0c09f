"""Who takes part in the stream benchmark: each assigns a day, then learns some of its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.methods import DEFAULT_METHOD
from eventide.methods.baselines.logistic_regression import LinearProbe
from eventide.model import EventClassifier
from eventide.model.discovery import PERHAPS, perhaps_new
from eventide.novelty.detector import FALSE_ALARMS
from eventide.opinions.log_pool import softmax

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Said:
    """The event of each message (None: new), and how much a label of it is wanted.

    Messages that are ``perhaps`` new can join candidates that they are like.
    """

    events: list[str | None]
    wanted: Floats
    perhaps: Bools | None = None


class Contestant(Protocol):
    """A method in the stream; vectors are the same for all, of unit length."""

    def start(self, frame: pl.DataFrame, vectors: Floats) -> None:
        """Learn from the labelled messages that the stream begins with."""

    def assign(self, frame: pl.DataFrame, vectors: Floats) -> Said:
        """Assign a day's messages; their events are hidden."""

    def learn(self, frame: pl.DataFrame, vectors: Floats, shown: Bools) -> None:
        """Take in a day's messages and the events of those whose label was bought."""


class Classifier:
    """A model of ours: assigns, remembers every message, learns what was labelled."""

    def __init__(self, method: str, seed: int, encoder: str, epochs: int | None) -> None:
        trained = epochs is not None and method != "lr-encoder"
        changes: dict[str, Any] = {"training__epochs": epochs} if trained else {}
        self.model = EventClassifier(method=method, seed=seed, encoder=encoder, **changes)

    def start(self, frame: pl.DataFrame, vectors: Floats) -> None:
        """Train on the first messages."""
        self.model.fit(frame)

    def assign(self, frame: pl.DataFrame, vectors: Floats) -> Said:
        """Say new where the verdict is new; wanted are new messages first, then doubtful ones."""
        told = self.model.opinions(frame)
        events = [
            None if verdict == "new" else str(event)
            for event, verdict in zip(told["event"], told["verdict"], strict=True)
        ]
        novelty = told["novelty"].fill_null(0.0).to_numpy()
        wanted = np.asarray(novelty + told["doubt"].to_numpy())
        return Said(events, wanted, perhaps_new(self.model, told))

    def learn(self, frame: pl.DataFrame, vectors: Floats, shown: Bools) -> None:
        """Update the model with the whole day."""
        self.model.update(hidden_events(frame, shown))


class LabelledVectors:
    """Labelled vectors that grow; shared by the simple contestants."""

    def __init__(self) -> None:
        self.vectors = np.zeros((0, 0))
        self.events: list[str] = []
        self.days: list[float] = []

    def start(self, frame: pl.DataFrame, vectors: Floats) -> None:
        """Take all labels."""
        self.learn(frame, vectors, np.ones(len(frame), dtype=bool))

    def learn(self, frame: pl.DataFrame, vectors: Floats, shown: Bools) -> None:
        """Take the labels that were bought."""
        self.vectors = np.concatenate([self.vectors.reshape(-1, vectors.shape[1]), vectors[shown]])
        self.events += frame["event"].filter(pl.Series(shown)).to_list()
        self.days += _days(frame)[shown].tolist()

    @property
    def names(self) -> list[str]:
        """The events that have a label."""
        return sorted(set(self.events))

    def labels(self) -> NDArray[np.int64]:
        """The index of each label among the names."""
        number = {name: at for at, name in enumerate(self.names)}
        return np.array([number[event] for event in self.events], dtype=np.int64)


class DailyRegression(LabelledVectors):
    """Logistic regression on the vectors, trained anew every day; new by its entropy."""

    def assign(self, frame: pl.DataFrame, vectors: Floats) -> Said:
        """The threshold is the entropy that 5 % of left-out labelled messages exceed."""
        labels, names = self.labels(), self.names
        folds = np.random.default_rng([len(labels)]).permutation(len(labels)) % 3
        known = np.concatenate(
            [
                _entropy(self._probability(labels[folds != each], folds != each, folds == each))
                for each in range(3)
            ]
        )
        probe = LinearProbe.fit(self.vectors, labels)
        probability = softmax(probe.logits(vectors).astype(np.float64))
        entropy = _entropy(probability)
        new = entropy > np.quantile(known, 1 - FALSE_ALARMS)
        best = probability.argmax(axis=1)
        perhaps = entropy > np.quantile(known, 1 - PERHAPS * FALSE_ALARMS)
        return Said(_events([names[each] for each in best], new), entropy, perhaps)

    def _probability(self, labels: NDArray[np.int64], inside: Bools, outside: Bools) -> Floats:
        _, inner = np.unique(labels, return_inverse=True)
        logits = LinearProbe.fit(self.vectors[inside], inner).logits(self.vectors[outside])
        return softmax(logits.astype(np.float64))


class NearestCentroid(LabelledVectors):
    """The nearest mean vector of an event; new where its cosine is low."""

    def assign(self, frame: pl.DataFrame, vectors: Floats) -> Said:
        """The threshold is the cosine below which 5 % of the labelled messages lie."""
        labels, names = self.labels(), self.names
        means = [self.vectors[labels == each].mean(axis=0) for each in range(len(names))]
        centroids = unit_rows(np.stack(means))
        own = (self.vectors @ centroids.T)[np.arange(len(labels)), labels]
        cosines = vectors @ centroids.T
        nearest = cosines.max(axis=1)
        new = nearest < np.quantile(own, FALSE_ALARMS)
        perhaps = nearest < np.quantile(own, PERHAPS * FALSE_ALARMS)
        best = cosines.argmax(axis=1)
        return Said(_events([names[each] for each in best], new), -nearest, perhaps)


class NearestLabelInTime(LabelledVectors):
    """The event of the label nearest in time; it reads no text and never says new."""

    def assign(self, frame: pl.DataFrame, vectors: Floats) -> Said:
        """Wanted are messages far in time from every label."""
        distance = np.abs(_days(frame)[:, None] - np.array(self.days)[None, :])
        nearest = distance.argmin(axis=1)
        return Said([self.events[each] for each in nearest], distance.min(axis=1))


class SinglePass:
    """Online clustering as in first-story detection: join the nearest cluster, or begin one."""

    LEAST = 0.5
    """Cosine with a cluster's centroid that a message needs to join it."""

    def __init__(self) -> None:
        self.sums: list[Floats] = []
        self.labels: list[Counter[str]] = []
        self.joined: list[int] = []

    def start(self, frame: pl.DataFrame, vectors: Floats) -> None:
        """Cluster the first messages, and label the clusters."""
        self.assign(frame, vectors)
        self.learn(frame, vectors, np.ones(len(frame), dtype=bool))

    def assign(self, frame: pl.DataFrame, vectors: Floats) -> Said:
        """A message of a cluster without any label is new."""
        self.joined, cosines = [], np.zeros(len(vectors))
        for row, vector in enumerate(vectors):
            best, nearest = -1, self.LEAST
            if self.sums:
                found = unit_rows(np.stack(self.sums)) @ vector
                best, nearest = int(found.argmax()), float(found.max())
            if best < 0 or nearest < self.LEAST:
                self.sums.append(np.zeros_like(vector))
                self.labels.append(Counter())
                best = len(self.sums) - 1
            self.sums[best] = self.sums[best] + vector
            self.joined.append(best)
            cosines[row] = nearest
        events = [
            self.labels[each].most_common(1)[0][0] if self.labels[each] else None
            for each in self.joined
        ]
        return Said(events, -cosines)

    def learn(self, frame: pl.DataFrame, vectors: Floats, shown: Bools) -> None:
        """Label the clusters that the labelled messages have joined."""
        for row in np.flatnonzero(shown):
            self.labels[self.joined[int(row)]][frame["event"][int(row)]] += 1


def contestants(seed: int, encoder: str, epochs: int | None) -> dict[str, Callable[[], Contestant]]:
    """Return how each contestant is made, by name."""
    return {
        **{
            name: partial(Classifier, name, seed, encoder, epochs)
            for name in (DEFAULT_METHOD, "ucl-ec+cb", "ce", "lr-encoder")
        },
        "lr-daily": DailyRegression,
        "nearest-centroid": NearestCentroid,
        "nearest-in-time": NearestLabelInTime,
        "single-pass": SinglePass,
    }


def hidden_events(frame: pl.DataFrame, shown: Bools) -> pl.DataFrame:
    """Return the messages with the events of the shown ones alone."""
    event = pl.when(pl.Series(shown)).then(pl.col("event")).alias("event")
    return frame.with_columns(event, pl.lit(None, dtype=pl.String).alias("split"))


def _events(names: list[str], new: Bools) -> list[str | None]:
    return [None if each else name for name, each in zip(names, new, strict=True)]


def _days(frame: pl.DataFrame) -> Floats:
    return np.asarray(frame["created_at"].dt.timestamp("ms").to_numpy() / 86_400_000.0)


def _entropy(probability: Floats) -> Floats:
    return np.asarray(-(probability * np.log(np.maximum(probability, 1e-30))).sum(axis=1))
