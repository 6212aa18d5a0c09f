"""Class-balanced weights: a rare class's error counts more."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def class_balanced_weights(counts: Tensor, base: float = 0.9999) -> Tensor:
    """Return w_c = (1 - b) / (1 - b^n_c) [C], scaled to sum to the number of classes.

    ``counts`` [C] are training messages per class. A class without any has no error to weigh:
    its weight is 0 and the others sum to their own number.

    >>> class_balanced_weights(torch.tensor([1, 1, 0])).tolist()
    [1.0, 1.0, 0.0]
    """
    present = counts > 0
    seen = counts.double().clamp(min=1)
    # The effective number 1 - b^n as expm1: for small n it is far below 1.
    effective = -torch.expm1(seen * math.log(base)) if base > 0 else torch.ones_like(seen)
    weights = torch.where(present, (1 - base) / effective, 0.0)
    return weights * present.sum() / weights.sum()
