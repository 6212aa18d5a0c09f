"""The optimisers a run can ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn

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


def learning_rate(settings: TrainingSettings, epoch: int) -> float:
    """Return the learning rate of an epoch, counted from 1: a function of nothing else.

    >>> settings = TrainingSettings(epochs=10, learning_rate=0.1, schedule="cosine")
    >>> [round(learning_rate(settings, epoch), 3) for epoch in (1, 6, 10)]
    [0.1, 0.05, 0.002]
    """
    if settings.schedule == "constant":
        return settings.learning_rate
    done = (epoch - 1) / settings.epochs
    return settings.learning_rate * (1 + math.cos(math.pi * done)) / 2
