"""The detector of new events: a weighted sum of signals, learned from pseudo-new events.

A known event is hidden: its class, its labelled messages and its elements. Its validation messages
then show what messages of a new event look like; those of the others, what known ones look like.
Each event is hidden in turn. No label of a really new event is needed, and nothing is retrained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eventide.corpus.corpus import Ints
from eventide.novelty.signals import SIGNALS, Evidence, signal_table

Floats = NDArray[np.float64]
FALSE_ALARMS = 0.05
"""Share of messages of known events that may be called new."""
FEWEST = 10
"""Validation messages below which no threshold can be had."""
MOST_HIDDEN = 30
"""Times that events are hidden; of more events, several are hidden together."""
STRENGTH = 0.1
"""C of the logistic regression: small, because pseudo-new events are not quite new ones."""
SPREAD = 1e-9


@dataclass(frozen=True)
class NoveltyDetector:
    """Weights of the signals, and what novelty the validation messages of known events have.

    ``novelty`` is 1 / (1 + exp(-(bias + sum of weights * standardised signals))): 0.5 where a
    message is as like pseudo-new events as like known ones.
    """

    weights: Floats
    bias: float
    mean: Floats
    scale: Floats
    known: Floats

    @classmethod
    def fit(cls, evidence: Evidence, labels: Ints) -> Self | None:
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
        model = LogisticRegression(C=STRENGTH, max_iter=1000)
        model.fit((table - mean) / scale, truth, sample_weight=weight * len(truth) / weight.sum())
        # More of a signal never makes a message less new.
        kept = np.maximum(np.asarray(model.coef_[0], dtype=np.float64), 0.0)
        found = cls(kept, float(model.intercept_[0]), mean, scale, np.zeros(0))
        known = np.sort(found.novelty(signal_table(evidence)))
        return cls(found.weights, found.bias, mean, scale, known)

    def novelty(self, table: Floats) -> Floats:
        """Return the novelty of messages with these signals [n, signals], between 0 and 1."""
        total = self.bias + self.contributions(table).sum(axis=1)
        return np.asarray(1 / (1 + np.exp(-np.clip(total, -700, 700))))

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
        place = int(np.ceil((len(self.known) + 1) * (1 - false_alarms) - 1e-9))
        return float(self.known[min(place, len(self.known)) - 1])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` turns into this detector again."""
        return {
            "weights": self.weights,
            "bias": np.array([self.bias]),
            "mean": self.mean,
            "scale": self.scale,
            "known": self.known,
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a detector; raise ValueError if the arrays are not of today's signals."""
        if any(arrays[name].shape != (len(SIGNALS),) for name in ("weights", "mean", "scale")):
            raise ValueError("the novelty signals are not those of this eventide")
        return cls(
            arrays["weights"],
            float(arrays["bias"][0]),
            arrays["mean"],
            arrays["scale"],
            arrays["known"],
        )
