"""What methods share that train a network on the text alone.

They read messages by themselves, whatever encoder the user chose. Text is never saved, nor anything
it could be read from, so the memory is predicted once, after training, and its logits are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.losses.loss_inputs import Outputs
from eventide.methods.method import Prediction
from eventide.methods.single_step import KEPT, Logits, messages_of, prediction_of
from eventide.methods.trained import TrainedMethod, cross_entropy_objective
from eventide.runners.text_runner import VIEW, TextNetwork, TextRunner
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import TrainingRun, Watch
from eventide.training.phases import Phase

NetworkT = TypeVar("NetworkT", bound=TextNetwork)
READER = "reader"


class TextMethod(TrainedMethod[NetworkT, TextRunner]):
    """A method gives its network, how it reads messages, and what of that must be saved."""

    _kept: Logits

    def read(self, messages: pl.DataFrame) -> Tensor:
        """Return what the network reads of messages [n, ...], each by itself."""
        raise NotImplementedError

    def reader_facts(self) -> dict[str, Any]:
        """Return what ``recall_reader`` needs, as plain values."""
        raise NotImplementedError

    def recall_reader(self, facts: Mapping[str, Any]) -> None:
        """Make the reader again from what ``reader_facts`` returned."""
        raise NotImplementedError

    def make_phases(self, network: NetworkT, counts: Tensor) -> list[Phase]:
        """Train everything by cross-entropy."""
        return [Phase(cross_entropy_objective(counts), self.settings.training)]

    def make_runner(self, network: NetworkT, corpus: Corpus, device: torch.device) -> TextRunner:
        """Set the network beside the texts."""
        return TextRunner(network, corpus, self.read_corpus, self.settings.network, device)

    def read_corpus(self, corpus: Corpus) -> Tensor:
        """Return the inputs of the network for the messages of a corpus."""
        return self.read(messages_of(corpus))

    def fit(
        self, training_set: TrainingSet, watch: Watch, checkpoints: Checkpoints | None
    ) -> TrainingRun:
        """Train, then predict the memory while its text is at hand."""
        run = super().fit(training_set, watch, checkpoints)
        self._kept = _logits(self.runner.evaluate(np.arange(len(training_set.corpus))))
        return run

    def predict(self, rows: Ints) -> Prediction:
        """Return what was said of remembered messages after training."""
        return prediction_of(self._kept[rows])

    def predict_new(self, corpus: Corpus) -> Prediction:
        """Predict new messages, each by itself."""
        return prediction_of(_logits(self.runner.evaluate_new(self.runner.look_up(corpus))))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return weights, how to read, and the logits of the memory."""
        facts = json.dumps(self.reader_facts()).encode()
        reader = np.frombuffer(facts, dtype=np.uint8).copy()
        return {**super().state(), READER: reader, KEPT: self._kept}

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Take them back."""
        self.recall_reader(json.loads(arrays[READER].tobytes()))
        self._kept = arrays[KEPT]
        super().restore(arrays, corpus)


def _logits(outputs: Outputs) -> Logits:
    logits: Logits = outputs[VIEW].logits.cpu().numpy()
    return logits
