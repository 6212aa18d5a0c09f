"""One pass per epoch over training and validation messages, and the scores of the latter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from eventide.corpus.training_set import TrainingSet
from eventide.losses.loss_inputs import Outputs
from eventide.networks.multi_view import rows_of
from eventide.runners.runner import NOBODY, Runner, whole_outputs
from eventide.runtime.share import current_share
from eventide.scoring.calibration_error import class_averaged_nll
from eventide.scoring.metrics import accuracy, macro_f1
from eventide.training.objectives.objective import Objective, Readout


class Evaluation:
    """Runs the training messages that an objective observes, and scores the validation messages.

    Labels of validation messages are compared with predictions here; they reach no weight. What new
    validation messages read of the memory is looked up once, for all epochs.
    """

    def __init__(self, runner: Runner, objective: Objective, training_set: TrainingSet) -> None:
        self._runner, self._objective, self._training_set = runner, objective, training_set
        self._share = current_share()
        corpus = training_set.validation.corpus
        self._new = None if corpus is None else runner.look_up(corpus)

    def outputs(self) -> tuple[Outputs, Outputs]:
        """Run training and validation messages; no training messages where nobody observes them.

        Of several workers each gets its own training messages, and all validation messages.
        """
        runner, validation = self._runner, self._training_set.validation
        wanted = self._objective.observes or not len(validation)
        rows = self._training_set.training_rows if wanted else NOBODY
        inside = validation.rows if validation.rows is not None else NOBODY
        graph_rows = np.concatenate([rows, inside])
        both = runner.evaluate(graph_rows) if len(graph_rows) else {}
        own = len(self._share.own(rows))
        training = rows_of(both, slice(0, own)) if len(rows) else {}
        if self._new is not None:
            return training, runner.evaluate_new(self._new)
        return training, whole_outputs(rows_of(both, slice(own, None)), inside)

    def _mean(self, values: Tensor) -> float:
        """Average over the messages of all workers."""
        total, count = self._share.sum(torch.stack([values.sum(), values.new_tensor(len(values))]))
        return float(total / count)

    def settle(self) -> None:
        """After training: show the validation messages to a reader that learns from them."""
        reader, labels = self._objective.reader, self._training_set.validation.labels
        if reader.settles and len(labels):
            _, validation = self.outputs()
            reader.settle(validation, torch.from_numpy(labels).to(self._runner.device))

    def scores(self, known: Readout | None, validation: Outputs) -> dict[str, float]:
        """Score the validation messages; without any, say how uncertain the training ones are."""
        labels = self._training_set.validation.labels
        if not len(labels):
            return {} if known is None else {"uncertainty": self._mean(known.summary.uncertainty)}
        fused = self._objective.read(validation).fused
        predicted = fused.predicted.cpu().numpy()
        truth = torch.from_numpy(labels).to(self._runner.device)
        return {
            "validation_accuracy": accuracy(labels, predicted),
            "validation_f1": macro_f1(labels, predicted),
            "validation_loss": self._objective.reader.error(fused, truth),
            "validation_nll": class_averaged_nll(labels, fused.probability.cpu().numpy()),
            "uncertainty": float(fused.uncertainty.mean()),
        }


def plain_values(tensors: Mapping[str, Tensor]) -> dict[str, float]:
    """Read scalars, all at once: on another device every reading waits."""
    together = torch.stack([value.detach().double() for value in tensors.values()])
    return dict(zip(tensors, together.tolist(), strict=True))
