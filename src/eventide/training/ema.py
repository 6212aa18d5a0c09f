"""A running average of the weights: steadier than the weights of any one step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Ema:
    """The exponential average of some weights over the steps of training.

    ``decay`` says how much of the average every step keeps; 0 follows the weights themselves. While
    it is young the average keeps less, so that the random start is soon forgotten.

    >>> weight = nn.Parameter(torch.zeros(1))
    >>> average = Ema([weight], decay=0.5)
    >>> for value in (4.0, 8.0):
    ...     _ = weight.data.fill_(value)
    ...     average.follow()
    >>> with average.in_use():
    ...     weight.item()
    6.0
    >>> weight.item()
    8.0
    """

    def __init__(self, weights: Sequence[nn.Parameter], decay: float) -> None:
        self.weights = [each for each in weights if each.requires_grad] if decay else []
        self.decay = decay
        self.steps = 0
        self.average = [each.detach().clone() for each in self.weights]

    @torch.no_grad()
    def follow(self) -> None:
        """Take the weights of another step into the average."""
        self.steps += 1
        kept = min(self.decay, 1 - 1 / self.steps)
        for average, weight in zip(self.average, self.weights, strict=True):
            average.lerp_(weight, 1 - kept)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Put the average in the place of the weights for a while."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for average, weight in zip(self.average, self.weights, strict=True):
            kept = weight.clone()
            weight.copy_(average)
            average.copy_(kept)

    def state(self) -> dict[str, Tensor]:
        """Return the average and its age as arrays for a checkpoint."""
        numbered = {str(index): value for index, value in enumerate(self.average)}
        return {"steps": torch.tensor(self.steps), **numbered}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what ``state`` returned."""
        self.steps = int(state["steps"])
        for index, average in enumerate(self.average):
            average.copy_(state[str(index)])
