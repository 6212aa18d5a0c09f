"""What methods without epochs share: they learn in one step and keep what they said of the memory.

Texts are never saved, so a method that reads them predicts the memory once, when it is fitted, and
keeps the logits of every remembered message.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch.nn import functional

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.errors import EventideError
from eventide.methods.method import Prediction
from eventide.opinions.categorical import Categorical
from eventide.scoring.metrics import accuracy, macro_f1
from eventide.settings import Settings
from eventide.training.checkpoints import Checkpoints, Row
from eventide.training.loop import TrainingRun, Watch

Logits = NDArray[np.float32]
KEPT = "rows.logits"


class SingleStepMethod:
    """A method gives ``learn``, ``logits``, and the arrays it has learned; the rest is here.

    There is one "epoch": validation messages are scored for the record and choose nothing.
    """

    defaults: ClassVar[Mapping[str, Any]] = {}
    note: ClassVar[str] = ""
    balances_error: ClassVar[bool] = False

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self._kept: Logits

    def learn(self, training_set: TrainingSet) -> Logits:
        """Learn, and return the logits of every message of the memory [N, C]."""
        raise NotImplementedError

    def logits(self, corpus: Corpus) -> Logits:
        """Return the logits of new messages [n, C], each by itself."""
        raise NotImplementedError

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return what ``recall`` needs."""
        raise NotImplementedError

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what ``learned`` returned."""
        raise NotImplementedError

    def fit(
        self, training_set: TrainingSet, watch: Watch, checkpoints: Checkpoints | None
    ) -> TrainingRun:
        """Learn in one step; there is nothing to continue from a checkpoint."""
        started = time.perf_counter()
        self._kept = self.learn(training_set)
        row: Row = {"epoch": 1, **self._validated(training_set)}
        row["seconds"] = time.perf_counter() - started
        watch(row)
        return TrainingRun([row], 1)

    def predict(self, rows: Ints) -> Prediction:
        """Return what was said of remembered messages when the method was fitted."""
        return prediction_of(self._kept[rows])

    def predict_new(self, corpus: Corpus) -> Prediction:
        """Predict new messages, each by itself."""
        return prediction_of(self.logits(corpus))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what was learned, and the logits of the memory."""
        return {KEPT: self._kept, **self.learned()}

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Take back both."""
        self._kept = arrays[KEPT]
        self.recall(arrays)

    def memory_states(self) -> dict[str, NDArray[np.float32]]:
        """Return nothing: what is kept of the memory is learned."""
        return {}

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take nothing back; raise ValueError if there is something."""
        if arrays:
            raise ValueError(f"stored states that nobody reads: {', '.join(sorted(arrays))}")

    def _validated(self, training_set: TrainingSet) -> Row:
        held = training_set.validation
        if not len(held):
            return {"uncertainty": float(prediction_of(self._kept).uncertainty.mean())}
        logits = self._kept[held.rows] if held.corpus is None else self.logits(held.corpus)
        predicted = prediction_of(logits)
        loss = functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(held.labels))
        return {
            "validation_accuracy": accuracy(held.labels, predicted.predicted),
            "validation_f1": macro_f1(held.labels, predicted.predicted),
            "validation_loss": float(loss),
            "uncertainty": float(predicted.uncertainty.mean()),
        }


def prediction_of(logits: Logits) -> Prediction:
    """Read logits [n, C] as softmax probabilities; without views there is nothing to conflict."""
    said = Categorical(torch.from_numpy(logits))
    return Prediction(
        predicted=said.predicted.numpy(),
        undecided=np.zeros(len(logits), dtype=bool),
        belief=said.belief.numpy(),
        probability=said.probability.numpy(),
        uncertainty=said.uncertainty.numpy(),
        conflict=np.zeros(len(logits)),
        views={},
    )


def messages_of(corpus: Corpus) -> pl.DataFrame:
    """Return the messages behind ``corpus``; a memory that was loaded has none."""
    if corpus.source is None:
        raise EventideError(
            "this method reads text, and a saved model keeps none",
            next_step="give the messages themselves",
        )
    return corpus.source
