"""The optimisers a run can ask for."""

from __future__ import annotations

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
