"""What a model said of its validation messages, kept so that thresholds can be chosen later.

No texts and no names: probabilities and classes alone. The messages chose the epoch and fitted the
calibration; so what is shown of them is calibrated by temperatures fitted on others of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus
from eventide.corpus.training_set import Ints, TrainingSet
from eventide.methods.method import Bools, Floats, Method, Prediction
from eventide.opinions.calibration import (
    SMALLEST,
    Kind,
    ProbabilityCalibration,
    cross_fitted,
    fold_calibrations,
    folds_of,
)
from eventide.opinions.label_noise import LabelNoise
from eventide.opinions.prediction_sets import PredictionSets
from eventide.runtime.threads import threads_for


@dataclass(frozen=True, eq=False)
class ValidationPredictions:
    """Predictions of n validation messages, in the order of `ValidationIds`, and their classes.

    ``log_probability`` [n, C] is what the method said, before calibration. Labels that are more
    likely wrong than right are ``suspect``: they teach neither calibration nor sets.
    """

    log_probability: NDArray[np.float32]
    predicted: Ints
    undecided: Bools
    truth: Ints
    suspect: Bools
    kind: Kind = "none"

    @classmethod
    def of(
        cls,
        method: Method,
        training_set: TrainingSet,
        advise: Callable[[Prediction, Corpus], Prediction] | None = None,
        wrong_labels: float = 0.0,
    ) -> ValidationPredictions:
        """Ask a fitted method, and who advises it; of the labels a share may be wrong."""
        held = training_set.validation
        if not len(held):
            return cls.none(training_set.classes)
        with threads_for(len(held)):
            said = (
                method.predict_new(held.corpus)
                if held.corpus is not None
                else method.predict(_rows(held.rows))
            )
        if advise is not None:
            said = advise(said, held.corpus or training_set.corpus.take(_rows(held.rows)))
        logs = np.log(np.maximum(said.probability, SMALLEST))
        own = logs[np.arange(len(held)), held.labels]
        suspect = LabelNoise(wrong_labels, training_set.classes).suspect(own)
        said_logs = logs.astype(np.float32)
        return cls(said_logs, said.predicted, said.undecided, held.labels, suspect)

    @classmethod
    def none(cls, classes: int) -> ValidationPredictions:
        """There are no validation messages."""
        nobody, nothing = np.zeros(0, dtype=np.int64), np.zeros(0, bool)
        return cls(np.zeros((0, classes), np.float32), nobody, nothing, nobody, nothing)

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def probability(self) -> Floats:
        """What the method said [n, C], before calibration."""
        found: Floats = np.exp(self.log_probability.astype(np.float64))
        found /= found.sum(axis=1, keepdims=True)
        return found

    @cached_property
    def calibrated(self) -> Floats:
        """Probabilities [n, C] as for new messages: no message's own label calibrated it."""
        return cross_fitted(self.probability, self.truth, self.kind, self.believed)

    @property
    def believed(self) -> Bools:
        """Whose label is more likely right than wrong [n]."""
        found: Bools = ~self.suspect
        return found

    @property
    def right(self) -> Bools:
        """Whether the assigned event is the true one [n]; the undecided are wrong."""
        right: Bools = (self.predicted == self.truth) & ~self.undecided
        return right

    def calibrate(self) -> ProbabilityCalibration:
        """Fit the calibration of the model on these messages."""
        taught = self.believed
        return ProbabilityCalibration.fit(self.probability[taught], self.truth[taught])

    def prediction_sets(self, coverage: float, kind: str = "clustered") -> PredictionSets:
        """Fit prediction sets on these messages."""
        taught = self.believed
        return PredictionSets.fit(self.calibrated[taught], self.truth[taught], coverage, kind)

    def calibrate_again(self, messages: Ints, probability: Floats) -> Floats:
        """Calibrate other probabilities [m, C] of these messages [m] without their own labels."""
        folds, calibrated = folds_of(self.truth)[messages], probability.copy()
        taught = fold_calibrations(self.probability, self.truth, self.kind, self.believed)
        for fold, fitted in enumerate(taught):
            calibrated[folds == fold] = fitted.apply(probability[folds == fold])
        return calibrated

    def take(self, rows: Ints | Bools) -> ValidationPredictions:
        """Return some of the messages."""
        return ValidationPredictions(
            self.log_probability[rows],
            self.predicted[rows],
            self.undecided[rows],
            self.truth[rows],
            self.suspect[rows],
            self.kind,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that ``from_state`` reads back."""
        return {
            "validation.log_probability": self.log_probability,
            "validation.predicted": self.predicted,
            "validation.undecided": self.undecided,
            "validation.truth": self.truth,
            "validation.suspect": self.suspect,
        }

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, NDArray[Any]], classes: int, kind: Kind
    ) -> ValidationPredictions:
        """Read what ``state`` gave; ValueError where its arrays do not fit together."""
        logs, predicted, undecided, truth = (
            arrays[f"validation.{name}"]
            for name in ("log_probability", "predicted", "undecided", "truth")
        )
        # Models of earlier versions believed every label.
        suspect = arrays.get("validation.suspect", np.zeros(len(truth), bool))
        if (
            len(suspect) != len(truth)
            or logs.shape != (len(truth), classes)
            or len(predicted) != len(truth)
        ):
            raise ValueError("validation predictions of other classes or messages")
        for named in (predicted, truth):
            if len(named) and not (named.min() >= 0 and named.max() < classes):
                raise ValueError("validation predictions name a class that there is not")
        return cls(logs, predicted, undecided.astype(bool), truth, suspect.astype(bool), kind)


def _rows(rows: Ints | None) -> Ints:
    return np.zeros(0, dtype=np.int64) if rows is None else rows
