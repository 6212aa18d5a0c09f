"""How far the other classes must stay from each class: one margin per class."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from eventide.losses import MARGINS
from eventide.losses.class_state import ClassStatistics

Margin = Callable[[ClassStatistics, float], Tensor]
"""From what is known of the classes and a scale (beta) to margins [C]."""


def no_margin(statistics: ClassStatistics, scale: float) -> Tensor:
    """Keep no distance: the original prototypical loss."""
    return torch.zeros_like(statistics.uncertainty)


def fixed_margin(statistics: ClassStatistics, scale: float) -> Tensor:
    """Keep the same distance from every class: the ablation's +m."""
    return torch.full_like(statistics.uncertainty, scale)


def error_rate_margin(statistics: ClassStatistics, scale: float) -> Tensor:
    """Keep away from classes that were often wrong in the last epoch: the ablation's +dm."""
    return scale * statistics.error_rate


def uncertainty_margin(statistics: ClassStatistics, scale: float) -> Tensor:
    """Keep away from uncertain classes: beta * u_y of equation `eq_ucl`."""
    return scale * statistics.uncertainty


def frequency_margin(statistics: ClassStatistics, scale: float) -> Tensor:
    """Keep away from rare classes: beta * (n_min / n_c)^(1/4); 0 for a class without messages."""
    counts = statistics.counts.double()
    fewest = counts[statistics.present].min()
    return torch.where(statistics.present, scale * (fewest / counts.clamp(min=1)) ** 0.25, 0.0)


def margins_of(name: str, statistics: ClassStatistics, scale: float) -> Tensor:
    """Return the margins [C] of a registered kind."""
    return cast(Margin, MARGINS.load(name))(statistics, scale)
