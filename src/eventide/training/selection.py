"""Which epoch to keep: the best validation accuracy, with the ties settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor


@dataclass
class Best:
    """The best epoch so far and a copy of its weights.

    Higher accuracy wins; then higher macro-F1, then lower validation loss, then the earlier epoch.

    >>> best = Best()
    >>> best.offer(1, 0.8, 0.7, 1.0, weights=dict)
    True
    >>> best.offer(2, 0.8, 0.7, 1.0, weights=dict)
    False
    >>> best.offer(3, 0.8, 0.7, 0.9, weights=dict), best.epoch
    (True, 3)
    """

    epoch: int = 0
    rose: int = 0
    """When accuracy or macro-F1 last rose; a loss that merely creeps down does not count."""
    rank: tuple[float, float, float] | None = None
    weights: dict[str, Tensor] = field(default_factory=dict)

    def offer(
        self,
        epoch: int,
        accuracy: float,
        macro_f1: float,
        loss: float,
        weights: Callable[[], dict[str, Tensor]],
    ) -> bool:
        """Keep this epoch if it beats the best so far; say whether it did."""
        rank = (accuracy, macro_f1, -loss)
        if self.rank is not None and rank <= self.rank:
            return False
        if self.rank is None or rank[:2] > self.rank[:2]:
            self.rose = epoch
        self.epoch, self.rank, self.weights = epoch, rank, weights()
        return True
