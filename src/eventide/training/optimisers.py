"""Optimisers and learning rates; training that leaves the finite numbers ends there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import nn

from eventide.errors import Diverged
from eventide.training.settings import TrainingSettings


def make_optimiser(
    parameters: Iterable[nn.Parameter], settings: TrainingSettings
) -> torch.optim.Optimizer:
    """Return the optimiser that ``settings`` name.

    >>> weight = nn.Parameter(torch.zeros(1))
    >>> make_optimiser([weight], TrainingSettings(optimiser="sgd")).defaults["momentum"]
    0.9
    """
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimiser == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=settings.momentum, weight_decay=decay)
    return torch.optim.Adam(parameters, lr=rate, weight_decay=decay)


def learning_rate(settings: TrainingSettings, epoch: int, round_steps: int = 1) -> float:
    """Return the learning rate of an epoch, counted from 1, with rounds of so many steps.

    >>> settings = TrainingSettings(epochs=10, learning_rate=0.1, schedule="cosine")
    >>> [round(learning_rate(settings, epoch), 3) for epoch in (1, 6, 10)]
    [0.1, 0.05, 0.002]
    >>> settings = TrainingSettings(learning_rate=0.1, fast_start=4)
    >>> [learning_rate(settings, epoch, round_steps=8) for epoch in (1, 2, 3, 4)]
    [0.4, 0.2, 0.1, 0.1]
    >>> [learning_rate(settings, epoch=1, round_steps=steps) for steps in (1, 2, 4)]
    [0.1, 0.1, 0.2]
    """
    start = min(settings.fast_start, round_steps / 2)
    rate = settings.learning_rate * max(1.0, start / 2.0 ** (epoch - 1))
    if settings.schedule == "constant":
        return rate
    done = (epoch - 1) / settings.epochs
    return rate * (1 + math.cos(math.pi * done)) / 2


USUAL_RATE = 1e-3


def check_finite(figures: Mapping[str, float], epoch: int, settings: TrainingSettings) -> None:
    """Raise ``Diverged`` with the first of ``figures`` that is not finite.

    >>> check_finite({"error": 0.5, "agreement": float("nan")}, 3, TrainingSettings())
    Traceback (most recent call last):
    eventide.errors.Diverged: training left the finite numbers: `agreement` became nan
      where: epoch 3
      next:  try a lower learning rate than 0.001: --set training.learning_rate=0.0001 (in Python \
training__learning_rate=0.0001), and check that no vector is far longer than the others
    """
    for name, value in figures.items():
        if not math.isfinite(value):
            rate = settings.learning_rate
            lower = f"{min(rate / 10, USUAL_RATE):g}"
            raise Diverged(
                f"training left the finite numbers: `{name}` became {value}",
                where=f"epoch {epoch}",
                next_step=f"try a lower learning rate than {rate:g}: "
                f"--set training.learning_rate={lower} (in Python "
                f"training__learning_rate={lower}), and check that no vector is far longer than "
                "the others",
            )
