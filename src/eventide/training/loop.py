"""Algorithm 1 of the paper, on one screen; it serves every method that trains the network."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

import torch

from eventide.corpus.training_set import TrainingSet
from eventide.networks.trainable import Part
from eventide.runners.graph_runner import Runner
from eventide.runtime.own_process import kept_memory
from eventide.training.checkpoints import Checkpoints, Progress, Row
from eventide.training.ema import Ema
from eventide.training.objectives.objective import Objective
from eventide.training.optimisers import check_finite, learning_rate, make_optimiser
from eventide.training.settings import TrainingSettings
from eventide.training.validation_scores import Evaluation

Watch = Callable[[Row], None]


@dataclass(frozen=True)
class TrainingRun:
    """How training went: one row of figures per epoch, which was kept, and what to say of it."""

    history: list[Row]
    best_epoch: int
    notes: tuple[str, ...] = ()


@kept_memory()
def train(
    runner: Runner,
    objective: Objective,
    training_set: TrainingSet,
    settings: TrainingSettings,
    *,
    seed: int,
    trains: Part = "all",
    watch: Watch = lambda _: None,
    checkpoints: Checkpoints | None = None,
) -> TrainingRun:
    """Train a part of the network on ``runner``, keep its best epoch, and return how it went."""
    rows = training_set.training_rows
    labels = torch.from_numpy(training_set.labels).to(runner.device)
    runner.network.train_only(trains)
    weights = [*runner.network.parameters(), *objective.parameters()]
    optimiser = make_optimiser(weights, settings)
    average = Ema(weights, settings.weight_average)
    progress = Progress(runner.network, objective, optimiser, average)
    evaluation = Evaluation(runner, objective, training_set)
    patience = settings.patience if len(training_set.validation) else None
    if checkpoints is not None:
        checkpoints.resume(progress)
    if progress.epoch == 0 and objective.watches_before_training:
        objective.observe(runner.evaluate(rows), labels[rows], 0)

    while progress.epoch < settings.epochs and not progress.stale(patience):
        epoch = progress.epoch + 1
        started = time.perf_counter()
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(settings, epoch)
        terms: list[Row] = []
        batches = objective.batches(
            rows, training_set.labels[rows], settings.batch_size, seed, epoch
        )
        for batch in batches:
            outputs = runner.learn(batch)
            loss, means = objective.loss(outputs, labels[batch], epoch)
            check_finite(means, epoch, settings)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            average.follow()
            terms.append(means)

        row: Row = {"epoch": epoch}
        row |= {name: fmean(means[name] for means in terms) for name in terms[0]}
        with average.in_use():
            row |= evaluation.after(epoch)
            check_finite(row, epoch, settings)
            row["seconds"] = time.perf_counter() - started
            progress.record(row)
        watch(row)
        if checkpoints is not None:
            checkpoints.save(progress)
    progress.restore_best()
    runner.rest()
    return TrainingRun(progress.history, progress.best.epoch)
