"""Probabilities that can be believed: of messages said to be 90 % sure, 90 % are right.

A temperature divides the log probabilities of a message: above 1 it makes them more cautious, below
1 more certain. It is one number for all messages, or one per class, chosen by the class a message
is assigned to. Either way the order of a message's classes stays, and so does its event.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Kind = Literal["none", "global", "by class"]

FOLDS = 5
FEWEST = 2 * FOLDS
"""Fewer labelled messages say nothing of how sure one may be."""
SPREAD, CLASS_SPREAD = 0.5, 0.25
"""Deviation of the log temperature from 0 that is expected, and of a class's from the global one.
The fewer messages there are, the closer it stays."""
DOUBTED = 1.0
"""Messages, spread over all, whose runner-up counts as right: nobody becomes certain by n hits."""
REACH, STEPS = 3.0, 20
"""How far from expectation a log temperature may go, and the halvings that find it."""
IMPOSSIBLE = 1e-12
"""One message whose event was called impossible must not set the temperature of all others."""
SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class ProbabilityCalibration:
    """Temperatures: one, or one per class [C]; ``messages`` is how many they were fitted on.

    >>> halved = ProbabilityCalibration(np.array([2.0]), 100)
    >>> halved.apply(np.array([[0.8, 0.2]])).round(4).tolist()
    [[0.6667, 0.3333]]
    """

    temperature: Floats
    messages: int = 0

    @classmethod
    def identity(cls) -> ProbabilityCalibration:
        """Change nothing: of a model that had no validation messages, or that is older."""
        return cls(np.ones(1))

    @classmethod
    def fit(cls, probability: Floats, labels: Ints) -> ProbabilityCalibration:
        """Fit on probabilities [n, C] of messages that were not trained on, and their classes.

        Of none, one and one per class, the temperatures with the best log likelihood of messages
        that they were not fitted on; one per class only if that is more than chance.
        """
        unchanged = cls(np.ones(1), len(labels))
        if len(labels) < FEWEST:
            return unchanged
        plain, single, many = (
            _costs(
                probability if kind == "none" else cross_fitted(probability, labels, kind), labels
            )
            for kind in ("none", "global", "by class")
        )
        if single.mean() >= plain.mean():
            return unchanged
        gain = single - many
        error = gain.std() / np.sqrt(len(gain))
        kind: Kind = "by class" if gain.mean() > 2 * error else "global"
        return cls._of_kind(kind, probability, labels)

    @classmethod
    def _of_kind(cls, kind: Kind, probability: Floats, labels: Ints) -> ProbabilityCalibration:
        if kind == "none":
            return cls.identity()
        every = np.zeros(len(labels), dtype=np.int64)
        single = _temperatures(probability, labels, every, np.zeros(1), SPREAD)
        if kind == "global":
            return cls(single, len(labels))
        around = np.full(probability.shape[1], np.log(single[0]))
        assigned = probability.argmax(axis=1)
        return cls(_temperatures(probability, labels, assigned, around, CLASS_SPREAD), len(labels))

    @property
    def kind(self) -> Kind:
        """Whether there is a temperature: none, one for all ("global"), or one "by class"."""
        if len(self.temperature) > 1:
            return "by class"
        return "none" if self.temperature[0] == 1 else "global"

    def apply(self, probability: Floats) -> Floats:
        """Calibrate probabilities [n, C]; the order of each message's classes stays."""
        if self.kind == "none":
            return probability
        temperature = self.temperature
        if len(temperature) > 1:
            temperature = temperature[probability.argmax(axis=1)][:, None]
        logs = np.log(np.maximum(probability, SMALLEST)) / temperature
        scaled = np.exp(logs - logs.max(axis=1, keepdims=True))
        calibrated: Floats = scaled / scaled.sum(axis=1, keepdims=True)
        return calibrated

    def note(self) -> str:
        """Say what was done, for a person."""
        count = f"{self.messages:,} validation messages"
        if self.messages < FEWEST:
            found = count if self.messages else "no validation messages"
            return f"probabilities are not calibrated ({found}): read doubt as an order"
        if self.kind == "none":
            return f"probabilities fit {count} as they are, and stay so"
        how = "a temperature for each event"
        if self.kind == "global":
            how = f"a temperature of {self.temperature[0]:.2f}"
        return f"probabilities are calibrated on {count}, which also chose the epoch: {how}"

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` reads back."""
        return {"temperature": self.temperature, "calibrated_on": np.array([self.messages])}

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], classes: int) -> ProbabilityCalibration:
        """Read what ``state`` gave; ValueError where that is no calibration of these classes."""
        temperature = arrays["temperature"].astype(np.float64)
        if temperature.shape not in ((1,), (classes,)):
            raise ValueError(f"{temperature.shape} temperatures for {classes} classes")
        if not (np.isfinite(temperature) & (temperature > 0)).all():
            raise ValueError("a temperature is not a positive number")
        return cls(temperature, int(arrays["calibrated_on"][0]))


def folds_of(labels: Ints, count: int = FOLDS) -> Ints:
    """Deal messages into folds [n], each class evenly, the same way every time."""
    order = np.random.default_rng(0).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), dtype=np.int64)
    folds[order] = np.arange(len(labels)) % count
    return folds


def cross_fitted(
    probability: Floats, labels: Ints, kind: Kind, believed: Bools | None = None
) -> Floats:
    """Calibrate each message [n, C] by temperatures that were fitted on other folds.

    Where not every label is ``believed`` [n], the others teach no temperature.
    """
    calibrated, folds = probability.copy(), folds_of(labels)
    for fold, fitted in enumerate(fold_calibrations(probability, labels, kind, believed)):
        calibrated[folds == fold] = fitted.apply(probability[folds == fold])
    return calibrated


def fold_calibrations(
    probability: Floats, labels: Ints, kind: Kind, believed: Bools | None = None
) -> list[ProbabilityCalibration]:
    """Fit one calibration for each fold of messages, on the messages of the other folds."""
    if kind == "none" or len(labels) < FEWEST:
        return [ProbabilityCalibration.identity()] * FOLDS
    folds = folds_of(labels)
    taught = [
        folds != each if believed is None else (folds != each) & believed for each in range(FOLDS)
    ]
    return [ProbabilityCalibration._of_kind(kind, probability[own], labels[own]) for own in taught]


def _costs(probability: Floats, labels: Ints) -> Floats:
    own = probability[np.arange(len(labels)), labels]
    costs: Floats = -np.log(np.maximum(own, IMPOSSIBLE))
    return costs


def _temperatures(
    probability: Floats, labels: Ints, groups: Ints, expected: Floats, spread: float
) -> Floats:
    """Return the most likely temperature of each group [G], given an expected log temperature.

    The negative log likelihood is convex in 1 / T; its slope is halved to 0 for all groups at once.
    """
    logs = np.log(np.maximum(probability, IMPOSSIBLE))
    rows = np.arange(len(labels))
    others = logs.copy()
    others[rows, logs.argmax(axis=1)] = -np.inf
    doubted = DOUBTED / len(labels)
    wanted = logs[rows, labels] + doubted * others.max(axis=1)
    low, high = expected - REACH, expected + REACH
    for _ in range(STEPS):
        middle = (low + high) / 2
        sharpness = np.exp(-middle)
        scaled = logs * sharpness[groups][:, None]
        weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        mean = (weights * logs).sum(axis=1) / weights.sum(axis=1)
        slope = np.bincount(groups, (1 + doubted) * mean - wanted, minlength=len(expected))
        # d cost / d log T = -sharpness * d cost / d sharpness; then the pull of the expectation.
        rising = -sharpness * slope + (middle - expected) / spread**2 > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    temperatures: Floats = np.exp((low + high) / 2)
    return temperatures
