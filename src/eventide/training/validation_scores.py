"""One pass per epoch: it serves the metrics, the class state and the next centroids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from eventide.corpus.training_set import Ints, TrainingSet
from eventide.networks.multi_view import ViewOutput
from eventide.runners.graph_runner import Runner
from eventide.scoring.metrics import accuracy, macro_f1
from eventide.training.objectives.objective import Objective, Outputs


def rows_of(outputs: Mapping[str, ViewOutput], rows: slice) -> dict[str, ViewOutput]:
    """Return what every view says of some of the messages."""
    return {
        view: replace(each, embeddings=each.embeddings[rows], logits=each.logits[rows])
        for view, each in outputs.items()
    }


NOBODY: Ints = np.empty(0, dtype=np.int64)


class Evaluation:
    """Lets an objective observe the training messages, and scores the validation messages.

    Labels of validation messages are compared with predictions here and go nowhere else. What new
    validation messages read of the memory is looked up once, for all epochs.
    """

    def __init__(self, runner: Runner, objective: Objective, training_set: TrainingSet) -> None:
        self._runner, self._objective, self._training_set = runner, objective, training_set
        corpus = training_set.validation.corpus
        self._new = None if corpus is None else runner.look_up(corpus)

    def after(self, epoch: int) -> dict[str, float]:
        """Return the figures of an epoch; without validation messages there are none of those."""
        runner, objective, validation = self._runner, self._objective, self._training_set.validation
        # a pass over all training messages is made only for those who look at it
        looked_at = objective.observes or not len(validation)
        rows = self._training_set.training_rows if looked_at else NOBODY
        inside = validation.rows if validation.rows is not None else NOBODY
        graph_rows = np.concatenate([rows, inside])
        outputs = runner.evaluate(graph_rows) if len(graph_rows) else {}
        training = rows_of(outputs, slice(0, len(rows)))
        if objective.observes:
            labels = torch.from_numpy(self._training_set.labels[rows]).to(runner.device)
            objective.observe(training, labels, epoch)
        if not len(validation):
            return {"uncertainty": float(objective.read(training).uncertainty.mean())}
        if self._new is not None:
            return self._scored(runner.evaluate_new(self._new))
        return self._scored(rows_of(outputs, slice(len(rows), None)))

    def _scored(self, held_out: Outputs) -> dict[str, float]:
        objective, labels = self._objective, self._training_set.validation.labels
        judged = objective.read(held_out)
        predicted = judged.predicted.cpu().numpy()
        truth = torch.from_numpy(labels).to(self._runner.device)
        return {
            "validation_accuracy": accuracy(labels, predicted),
            "validation_f1": macro_f1(labels, predicted),
            "validation_loss": objective.error(held_out, truth),
            "uncertainty": float(judged.uncertainty.mean()),
        }
