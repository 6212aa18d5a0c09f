"""What methods share that train a network on the text alone.

They read messages by themselves, whatever encoder the user chose. Text is never saved, nor anything
it could be read from, so the memory is judged once, after training, and its logits are kept.
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
from eventide.corpus.training_set import Problem
from eventide.methods.method import Judgement
from eventide.methods.single_step import KEPT, Logits, judgement_of, messages_of
from eventide.methods.trained import TrainedMethod
from eventide.runners.text_runner import VIEW, TextNetwork, TextStage
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import Run, Watch
from eventide.training.objectives.logit_objective import LogitObjective
from eventide.training.objectives.objective import Outputs
from eventide.training.phases import Phase

NetworkT = TypeVar("NetworkT", bound=TextNetwork)
READER = "reader"


class TextMethod(TrainedMethod[NetworkT, TextStage]):
    """A method gives its network, how it reads messages, and what of that must be saved."""

    _kept: Logits

    def read(self, messages: pl.DataFrame) -> Tensor:
        """Return what the network reads of messages [n, ...], each by itself."""
        raise NotImplementedError

    def reader_facts(self) -> dict[str, Any]:
        """Return what ``recall_reader`` needs, as plain values."""
        raise NotImplementedError

    def recall_reader(self, facts: Mapping[str, Any]) -> None:
        """Stand ready to read again."""
        raise NotImplementedError

    def make_phases(self, network: NetworkT, counts: Tensor) -> list[Phase]:
        """Train everything by cross-entropy."""
        return [Phase(LogitObjective(counts, 0.0), self.settings.training)]

    def make_stage(self, network: NetworkT, corpus: Corpus, device: torch.device) -> TextStage:
        """Set the network beside the texts."""

        def read(messages: Corpus) -> Tensor:
            return self.read(messages_of(messages))

        return TextStage(network, corpus, read, self.settings.network, device)

    def fit(self, problem: Problem, watch: Watch, checkpoints: Checkpoints | None) -> Run:
        """Train, then judge the memory while its text is at hand."""
        run = super().fit(problem, watch, checkpoints)
        self._kept = _logits(self.stage.evaluate(np.arange(len(problem.corpus))))
        return run

    def judge(self, rows: Ints) -> Judgement:
        """Return what was said of remembered messages after training."""
        return judgement_of(self._kept[rows])

    def judge_new(self, corpus: Corpus) -> Judgement:
        """Judge new messages, each by itself."""
        return judgement_of(_logits(self.stage.evaluate_new(self.stage.look_up(corpus))))

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
