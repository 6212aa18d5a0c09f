"""An exponential moving average (EMA) of the weights: steadier than the weights of any step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Ema:
    """The exponential moving average of some weights over the steps of training.

    ``decay`` says how much of the average every step keeps; 0 follows the weights themselves. While
    it is young the average keeps less, so that the initialisation is soon forgotten.

    >>> weight = nn.Parameter(torch.zeros(1))
    >>> ema = Ema([weight], decay=0.5)
    >>> for value in (4.0, 8.0):
    ...     _ = weight.data.fill_(value)
    ...     ema.update()
    >>> with ema.in_use():
    ...     weight.item()
    6.0
    >>> weight.item()
    8.0
    """

    def __init__(self, weights: Sequence[nn.Parameter], decay: float) -> None:
        trained = [each for each in weights if each.requires_grad] if decay else []
        self.weights = nn.ParameterList(trained)

        def update(
            averages: tuple[Tensor, ...] | list[Tensor],
            current: tuple[Tensor, ...] | list[Tensor],
            steps: Tensor | int,
        ) -> None:
            # The (n + 1)-th value counts at least 1 / (n + 1): a plain mean at first.
            kept = min(decay, 1 - 1 / (int(steps) + 1))
            get_ema_multi_avg_fn(kept)(averages, current, steps)  # type: ignore[no-untyped-call]

        self.average = AveragedModel(self.weights, multi_avg_fn=update)

    def update(self) -> None:
        """Take the weights of another step into the average."""
        if len(self.weights):
            self.average.update_parameters(self.weights)

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
        for average, weight in zip(self.average.parameters(), self.weights, strict=True):
            kept = weight.clone()
            weight.copy_(average)
            average.copy_(kept)

    def state(self) -> dict[str, Tensor]:
        """Return the average and its age for a checkpoint."""
        return self.average.state_dict()

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what ``state`` returned."""
        self.average.load_state_dict(state)
