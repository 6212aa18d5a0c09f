"""What every method offers: it learns from a training set, predicts messages, and can be saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.errors import BadSetting
from eventide.opinions.calibration import ProbabilityCalibration
from eventide.opinions.dissonance import dissonance_of
from eventide.opinions.opinion import NO_OPINION
from eventide.scoring.calibration_error import doubt_of
from eventide.settings import Settings
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import TrainingRun, Watch

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ViewPrediction:
    """What one view alone says of n messages: the class, how uncertain, out of how many."""

    predicted: Ints
    uncertainty: Floats
    neighbours: Ints


@dataclass(frozen=True)
class Prediction:
    """What a method says of n messages over C classes.

    ``belief`` and ``probability`` are [n, C]; the others are [n]. A message without any evidence is
    ``undecided``. Its ``predicted`` class, which people are shown, is the most frequent one of the
    training messages; in figures it counts as wrong (``scored_as``). ``uncertainty`` is the
    vacuity.
    """

    predicted: Ints
    undecided: Bools
    belief: Floats
    probability: Floats
    uncertainty: Floats
    conflict: Floats
    views: dict[str, ViewPrediction]

    @cached_property
    def doubt(self) -> Floats:
        """1 - probability of the predicted class [n]: how likely it is wrong, once calibrated."""
        return doubt_of(self.probability, self.predicted)

    @property
    def vacuity(self) -> Floats:
        """The share that no evidence claims [n]; of a softmax, the share of its largest entropy."""
        return self.uncertainty

    @cached_property
    def dissonance(self) -> Floats:
        """How much the beliefs contradict each other [n]; of a softmax, its probabilities."""
        return dissonance_of(self.belief)

    def calibrated(self, calibration: ProbabilityCalibration) -> Prediction:
        """Return the same with calibrated probabilities; every event stays."""
        probability = calibration.apply(self.probability)
        return self if probability is self.probability else replace(self, probability=probability)

    @property
    def scored_as(self) -> Ints:
        """What figures compare with the truth [n]: the predicted class, -1 where undecided."""
        return np.where(self.undecided, NO_OPINION, self.predicted)


def together(parts: Sequence[tuple[Ints, Prediction]]) -> Prediction:
    """Join predictions of parts of a table; each part comes with the indices of its rows."""
    order = np.argsort(np.concatenate([indices for indices, _ in parts]))
    predictions = [part for _, part in parts]

    def join(arrays: Iterable[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(list(arrays))[order]

    return Prediction(
        predicted=join(each.predicted for each in predictions),
        undecided=join(each.undecided for each in predictions),
        belief=join(each.belief for each in predictions),
        probability=join(each.probability for each in predictions),
        uncertainty=join(each.uncertainty for each in predictions),
        conflict=join(each.conflict for each in predictions),
        views={
            view: ViewPrediction(
                predicted=join(each.views[view].predicted for each in predictions),
                uncertainty=join(each.views[view].uncertainty for each in predictions),
                neighbours=join(each.views[view].neighbours for each in predictions),
            )
            for view in predictions[0].views
        },
    )


class Method(Protocol):
    """A way to learn events; ``defaults`` are its changes to the settings.

    ``note`` is what every table must say beside it: that it is a reconstruction, say.
    ``balances_error`` says whether +CB (``loss.class_balanced``) does anything.
    """

    defaults: ClassVar[Mapping[str, Any]]
    note: ClassVar[str]
    balances_error: ClassVar[bool]

    def __init__(self, settings: Settings, seed: int) -> None:
        """Take settings and seed; nothing is computed yet."""

    def fit(
        self, training_set: TrainingSet, watch: Watch, checkpoints: Checkpoints | None
    ) -> TrainingRun:
        """Learn, and return how it went."""

    def predict(self, rows: Ints) -> Prediction:
        """Predict messages of the memory by their row."""

    def predict_new(self, corpus: Corpus) -> Prediction:
        """Predict messages the memory does not hold, each by itself."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything ``restore`` needs beside the corpus.

        Arrays whose name begins with ``rows.`` have one row per message of the memory.
        """

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Make the method ready to predict again, with ``corpus`` as the memory."""

    def memory_states(self) -> dict[str, NDArray[np.float32]]:
        """Return what new messages read of the memory and what takes a pass over it to compute.

        It can be computed again from ``state`` and the memory, and must be when either changes.
        """

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """After ``restore``: take back ``memory_states``, so that no pass is needed."""


def check_balance(method: type[Method], settings: Settings) -> None:
    """Refuse class weights where nothing would come of them.

    A saved model is not asked: older ones have the setting from their preset.
    """
    if settings.loss.class_balanced and not getattr(method, "balances_error", False):
        raise BadSetting(
            "loss.class_balanced cannot be true: this method has no error that weighs all messages"
            " alike",
            next_step="leave it out (cb-focal, ldam-drw, hybrid-psc, dro-lt and tsc look after rare"
            " classes by themselves), or choose ucl-ec, ce, ldam, bcl, logit-adjustment or etgnn",
        )
