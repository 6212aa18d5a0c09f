"""Where mixed precision ends: products may be half, everything that is summed up is not."""

from __future__ import annotations

import torch
from torch import Tensor


def widen(values: Tensor) -> Tensor:
    """Return half-precision ``values`` in float32, and wider ones as they are.

    >>> widen(torch.ones(1, dtype=torch.bfloat16)).dtype, widen(torch.ones(1).double()).dtype
    (torch.float32, torch.float64)
    """
    return values if values.dtype == torch.float64 else values.float()
