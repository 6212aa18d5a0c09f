"""The detector of new events: a weighted sum of signals, scaled by pseudo-new events.

A known event is hidden: its class, its labelled messages and its elements. Its validation messages
then show what messages of a new event look like; those of the others, what known ones look like.
Each event is hidden in turn. No label of a really new event is needed, and nothing is retrained.

Pseudo-new events say how far each signal moves and where known and new part, but not what a signal
is worth: the network and the probe have seen the hidden event in training, and the signals that
profit most from that would get the largest weights. So the weights stand in a fixed ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eventide.corpus.corpus import Ints
from eventide.novelty.history import StreamHistory
from eventide.novelty.signals import FITTED, SIGNALS, MessageEvidence, signal_table
from eventide.opinions.log_pool import LogarithmicPool

Floats = NDArray[np.float64]
FALSE_ALARMS = 0.05
"""Share of messages of known events that may be called new."""
FEWEST = 10
"""Validation messages below which no threshold can be had."""
FEWEST_NEW = 3
"""Messages of new events that must have been labelled before the stream says what new ones are."""
MOST_HIDDEN = 30
"""Times that events are hidden; of more events, several are hidden together."""
WORTH = {"vacuity": 1, "entropy": 3, "probe": 3, "nearest": 1, "centroid": 0.5, "elements": 1}
"""The ratio of the weights, chosen on unlocked messages; centroids repeat much of the probe.

With less of entropy, novelty is worse than entropy alone where there are times; with more of it,
new events are missed where there are none."""
STRENGTH = 10.0
"""C of the logistic regression, which has only the size of the weights and the bias to find."""
STREAM_STRENGTH = 0.3
"""C where messages of really new events teach."""
STREAM = ("nearest", "centroid", "elements", "pool", "misfit")
"""The signals that a stream is judged by: those of the network change with every training."""
SPREAD = 1e-9


@dataclass(frozen=True)
class NoveltyDetector:
    """Weights of the signals, and what novelty the validation messages of known events have.

    ``novelty`` is 1 / (1 + exp(-(bias + sum of weights * standardised signals))): 0.5 where a
    message is as like pseudo-new events as like known ones. ``known`` is rising; its messages count
    by their ``shares``, the probability that each is about a known event.
    """

    weights: Floats
    bias: float
    mean: Floats
    scale: Floats
    known: Floats
    shares: Floats | None = None

    @classmethod
    def fit(cls, evidence: MessageEvidence, labels: Ints) -> Self | None:
        """Learn from validation messages with these labels [n]; None where there are too few."""
        from sklearn.linear_model import LogisticRegression

        held = [each for each in range(evidence.classes) if (labels == each).any()]
        if len(labels) < FEWEST or len(held) < 2:
            return None
        tables, truths, weights = [], [], []
        for hidden in np.array_split(np.array(held), min(len(held), MOST_HIDDEN)):
            shown = np.ones(evidence.classes, dtype=bool)
            shown[hidden] = False
            new = np.isin(labels, hidden)
            if not shown.any() or new.all():
                continue
            tables.append(signal_table(evidence, shown))
            truths.append(new)
            # Every hidden event weighs the same, and as much as the known messages beside it.
            weights.append(np.where(new, 1 / new.sum(), 1 / (~new).sum()))
        table, truth = np.concatenate(tables), np.concatenate(truths)
        weight = np.concatenate(weights)
        mean, scale = table.mean(axis=0), table.std(axis=0) + SPREAD
        worth = np.array([WORTH.get(name, 0) for name in SIGNALS], dtype=np.float64)
        worth[scale < 10 * SPREAD] = 0  # a signal that is the same for all says nothing of others
        sums = ((table - mean) / scale) @ worth
        model = LogisticRegression(C=STRENGTH, max_iter=1000)
        model.fit(sums[:, None], truth, sample_weight=weight * len(truth) / weight.sum())
        # More of a signal never makes a message less new.
        size = max(float(model.coef_[0, 0]), SPREAD)
        found = cls(size * worth, float(model.intercept_[0]), mean, scale, np.zeros(0))
        known = np.sort(found.novelty(signal_table(evidence)))
        return cls(found.weights, found.bias, mean, scale, known)

    def adapted(self, history: StreamHistory, pool: LogarithmicPool | None) -> NoveltyDetector:
        """Return a detector learned from messages that were labelled after they had come.

        Labelled messages say how novelty depends on the signals, whichever were chosen for a label.
        The threshold is of all recent messages: each counts as known by its probability. Where
        hardly any message of a new event has been labelled, the weights stay, and all count; where
        hardly any of a known one has, nothing is learned.
        """
        from sklearn.linear_model import LogisticRegression

        new, recent = ~history.known, history.recent.table(pool)
        if (~new).sum() < FEWEST or pool is None:
            return self
        if new.sum() < FEWEST_NEW:
            return replace(self, known=np.sort(self.novelty(recent)), shares=None)
        table = history.labelled.table(pool)
        mean, scale = table.mean(axis=0), table.std(axis=0) + SPREAD
        weights = np.zeros(len(SIGNALS))
        used = [list(SIGNALS).index(name) for name in STREAM]
        model = LogisticRegression(C=STREAM_STRENGTH, max_iter=1000)
        model.fit(((table - mean) / scale)[:, used], new)
        weights[used] = np.maximum(model.coef_[0], 0.0)
        sums = ((table - mean) / scale) @ weights
        found = NoveltyDetector(weights, _balanced(sums, new), mean, scale, np.zeros(0))
        came = np.sort(found.novelty(recent))
        return replace(found, known=came, shares=1 - came)

    def novelty(self, table: Floats) -> Floats:
        """Return the novelty of messages with these signals [n, signals], between 0 and 1."""
        return np.asarray(1 / (1 + np.exp(-np.clip(self._sum(table), -700, 700))))

    def _sum(self, table: Floats) -> Floats:
        return np.asarray(self.bias + self.contributions(table).sum(axis=1))

    def contributions(self, table: Floats) -> Floats:
        """Return what each signal adds to the sum [n, signals]."""
        return np.asarray(self.weights * (table - self.mean) / self.scale)

    def threshold(self, false_alarms: float = FALSE_ALARMS) -> float:
        """Return the novelty above which a message is called new.

        At most this share of messages like the known validation messages lies above it.

        >>> known = np.linspace(0.01, 1, 100)
        >>> none = np.zeros(0)
        >>> NoveltyDetector(none, 0.0, none, none, known).threshold(0.05) <= 0.961
        True
        """
        shares = np.ones(len(self.known)) if self.shares is None else self.shares
        # One message more, of any novelty, is counted: the one that is judged.
        above = np.cumsum(shares[::-1])[::-1] + 1
        fewer = np.flatnonzero(above <= false_alarms * (shares.sum() + 1) + 1e-9)
        return float(self.known[max(fewer[0] - 1, 0)] if len(fewer) else self.known[-1])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` turns into this detector again."""
        return {
            "weights": self.weights,
            "bias": np.array([self.bias]),
            "mean": self.mean,
            "scale": self.scale,
            "known": self.known,
        } | ({} if self.shares is None else {"shares": self.shares})

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a detector; raise ValueError if the arrays are not of today's signals."""
        names = ("weights", "mean", "scale")
        weights, mean, scale = (_padded(arrays[name]) for name in names)
        if any(each.shape != (len(SIGNALS),) for each in (weights, mean, scale)):
            raise ValueError("the novelty signals are not those of this eventide")
        return cls(
            weights,
            float(arrays["bias"][0]),
            mean,
            np.where(scale == 0, 1.0, scale),
            arrays["known"],
            arrays.get("shares"),
        )


def _padded(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of all signals; a model of before the pool has them of the first alone."""
    missing = len(SIGNALS) - FITTED if values.shape == (FITTED,) else 0
    return np.append(values, np.zeros(missing))


def _balanced(sums: Floats, new: NDArray[np.bool_]) -> float:
    """Return what to add to the sums so that their mean novelty is the share of new ones."""
    low, high = -50.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        mean = (1 / (1 + np.exp(-np.clip(sums + middle, -700, 700)))).mean()
        low, high = (middle, high) if mean < new.mean() else (low, middle)
    return low
