"""Merge averages over parts of a memory like an online softmax: rescale to one reference, add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Partial:
    """An unfinished average: sums and weights of exp(-rate * (distance - reference)).

    ``sums`` [readers, width], ``weights`` [readers], ``references`` [readers] whole distances.
    """

    sums: Tensor
    weights: Tensor
    references: Tensor

    def average(self) -> Tensor:
        """The finished average."""
        return self.sums / self.weights[:, None]


def own_partial(values: Tensor, rates: Tensor) -> Partial:
    """Oneself: distance and reference 0, weight 1."""
    return Partial(
        values,
        torch.ones_like(rates),
        torch.zeros(len(rates), dtype=torch.int64, device=rates.device),
    )


def merge(partials: Sequence[Partial], rates: Tensor) -> Partial:
    """Join partial averages over disjoint messages, for the rates they were made with.

    >>> rates = torch.tensor([-1.0])
    >>> near = Partial(torch.tensor([[2.0]]), torch.tensor([1.0]), torch.tensor([0]))
    >>> far = Partial(torch.tensor([[4.0]]), torch.tensor([1.0]), torch.tensor([900]))
    >>> merge([near, far], rates).average().tolist()
    [[4.0]]
    """
    reference = torch.stack([part.references for part in partials]).amax(0)
    # whole distances are subtracted before the rate multiplies them: no rounding, no overflow
    scales = [torch.exp(-rates * (part.references - reference)) for part in partials]
    sums = torch.stack(
        [part.sums * scale[:, None] for part, scale in zip(partials, scales, strict=True)]
    )
    weights = torch.stack(
        [part.weights * scale for part, scale in zip(partials, scales, strict=True)]
    )
    return Partial(sums.sum(0), weights.sum(0), reference)
