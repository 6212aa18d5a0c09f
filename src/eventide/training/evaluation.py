"""One pass per epoch: it serves the metrics, the class statistics and the next centroids."""

from __future__ import annotations

import numpy as np
import torch

from eventide.scoring.metrics import accuracy, macro_f1
from eventide.training.objective import Objective
from eventide.training.outputs import rows_of
from eventide.training.problem import Problem
from eventide.training.stage import Stage


def evaluate(stage: Stage, objective: Objective, problem: Problem, epoch: int) -> dict[str, float]:
    """Let the objective observe the training messages, and score the validation messages.

    Labels of validation messages are compared with predictions here and go nowhere else.
    Without validation messages every later epoch counts as better: the last one is kept.
    """
    validation = problem.validation
    # a pass over all training messages is made only for those who look at it
    looked_at = objective.observes or not len(validation)
    rows = problem.training_rows if looked_at else np.empty(0, dtype=np.int64)
    inside = validation.rows if validation.rows is not None else np.empty(0, dtype=np.int64)
    graph_rows = np.concatenate([rows, inside])
    outputs = stage.evaluate(graph_rows) if len(graph_rows) else {}
    training = rows_of(outputs, slice(0, len(rows)))
    if objective.observes:
        labels = torch.from_numpy(problem.labels[rows]).to(stage.device)
        objective.observe(training, labels, epoch)
    if not len(validation):
        return {
            "validation_accuracy": 0.0,
            "validation_f1": 0.0,
            "validation_loss": -float(epoch),
            "uncertainty": float(objective.read(training).uncertainty.mean()),
        }
    held_out = (
        rows_of(outputs, slice(len(rows), None))
        if validation.corpus is None
        else stage.evaluate_new(validation.corpus)
    )
    judged = objective.read(held_out)
    predicted = judged.predicted.cpu().numpy()
    truth = torch.from_numpy(validation.labels).to(stage.device)
    return {
        "validation_accuracy": accuracy(validation.labels, predicted),
        "validation_f1": macro_f1(validation.labels, predicted),
        "validation_loss": objective.error(held_out, truth),
        "uncertainty": float(judged.uncertainty.mean()),
    }
