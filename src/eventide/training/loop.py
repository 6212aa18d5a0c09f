"""Algorithm 1 of the paper, on one screen; it serves every method that trains a network."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import torch

from eventide.corpus.training_set import TrainingSet
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.total import total_loss
from eventide.networks.trainable import Part
from eventide.runners.runner import Runner
from eventide.runtime.share import current_share
from eventide.training import SAMPLERS
from eventide.training.batches import Folds, epoch_batches, in_rounds, round_steps
from eventide.training.checkpoints import RANKS, Checkpoints, Progress, Row
from eventide.training.ema import Ema
from eventide.training.objectives.objective import Objective
from eventide.training.optimisers import check_finite, learning_rate, make_optimiser
from eventide.training.settings import TrainingSettings
from eventide.training.validation_scores import Evaluation, plain_values

Watch = Callable[[Row], None]


@dataclass(frozen=True)
class TrainingRun:
    """How training went: one row of figures per epoch, which was kept, and what to say of it."""

    history: list[Row]
    best_epoch: int
    notes: tuple[str, ...] = ()


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
    """Train a part of the network on ``runner``, keep its best epoch, and return how it went.

    Numbers in the comments are lines of Algorithm 1; methods without evidence run the same lines
    with terms and a reader of their own.
    """
    rows, share = training_set.training_rows, current_share()
    own = share.own(rows)  # all of them, unless several workers train together
    labels = torch.from_numpy(training_set.labels).to(runner.device)
    folds = Folds(rows, training_set.labels[rows], settings.folds)
    runner.network.train_only(trains)
    weights = [*runner.network.parameters(), *objective.parameters()]
    optimiser = make_optimiser(weights, settings)
    ema = Ema(weights, settings.ema_decay)
    # Distances to centroids are no probabilities: a phase that is read by them goes by accuracy.
    rank = RANKS[settings.select_by if objective.reader.probabilistic else "accuracy"]
    progress = Progress(runner.network, objective, optimiser, ema, rank)
    evaluation = Evaluation(runner, objective, training_set)
    sampler = objective.sampler or SAMPLERS.load(settings.sampler)
    patience = settings.patience if len(training_set.validation) else None
    if checkpoints is not None:
        checkpoints.resume(progress)
    if progress.epoch == 0 and objective.observes_at_start:
        objective.observe(runner.evaluate(rows), labels[own], 0)

    while progress.epoch < settings.epochs and not progress.stale(  # 4
        patience, settings.patience_steps
    ):
        epoch = progress.epoch + 1
        started = time.perf_counter()
        learned = folds.learned(epoch)
        labelled = training_set.labels[learned]
        batches = list(epoch_batches(sampler, learned, labelled, settings, seed, epoch))
        rate = learning_rate(settings, epoch, round_steps(settings, len(batches)))
        for group in optimiser.param_groups:
            group["lr"] = rate
        steps: list[Row] = []
        for batch, ahead in in_rounds(batches, settings):  # 5-6
            # 7-10, 12: embeddings and logits of every view; hidden layers learn last in a round
            views = runner.learn(batch, ahead=ahead)
            opinions = objective.reader.opinions(views)  # 13: what each view says
            fused = objective.reader.fuse(opinions)  # 14: what they say together
            inputs = LossInputs(views, fused, labels[batch], objective.statistics, epoch)
            # 11, 15-17: in the paper error, calibration, contrastive and agreement
            terms = {name: term(inputs) for name, term in objective.terms.items()}
            loss = total_loss(terms, objective.weights(epoch))  # 18
            values = plain_values(terms | {"total": loss})
            check_finite(values, epoch, settings)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            share.add_up_gradients(runner.network, objective)
            optimiser.step()  # 19
            objective.project()  # back onto a sphere, where a term asks for it
            ema.update()
            steps.append(values)

        row: Row = {"epoch": epoch, "epochs": settings.epochs}
        row["steps"] = progress.steps + len(steps)
        row |= {name: fmean(values[name] for values in steps) for name in steps[0]}
        with ema.in_use():
            training, validation = evaluation.outputs()
            known = None
            if training:  # 20
                aside = folds.measured(epoch)
                among = None if aside is None else np.isin(own, aside)
                known = objective.observe(training, labels[own], epoch, among)
            row |= evaluation.scores(known, validation)
            check_finite(row, epoch, settings)
            row["seconds"] = time.perf_counter() - started
            progress.record(row)
        watch(row)
        if checkpoints is not None:
            checkpoints.save(progress)
    progress.restore_best()
    evaluation.settle()
    runner.rest()
    return TrainingRun(progress.history, progress.best.epoch)
