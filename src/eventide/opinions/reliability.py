"""Fusion that trusts each view as far as validation messages say, then uses Dempster's rule."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import torch
from torch import Tensor, nn

from eventide.opinions.fusion import discount, fuse
from eventide.opinions.opinion import Opinion

LEVELS = (1.0, 0.99, 0.95, 0.9, 0.8, 0.6, 0.3, 0.0)
"""How far a view may be trusted; the first that fits best is taken."""
ROUNDS = 2


class ReliableFusion(nn.Module):
    """Discount every view by its reliability, then combine by Dempster's rule.

    All views are trusted while the network learns. Afterwards ``fit`` finds the reliabilities that
    give validation messages the lowest NLL, view by view. They are a few numbers, chosen like a
    temperature; no weight of the network sees a validation label.
    """

    reliability: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("reliability", torch.ones(0, dtype=torch.float64))

    def forward(self, opinions: Sequence[Opinion]) -> Opinion:
        """Combine the views' opinions; before ``fit`` exactly Dempster's rule."""
        return self._fused(opinions, self.reliability.tolist() or [1.0] * len(opinions))

    @torch.no_grad()
    def fit(self, opinions: Sequence[Opinion], labels: Tensor) -> None:
        """Find the reliability of each view on messages with these ``labels`` [n]."""
        chosen = [1.0] * len(opinions)
        lowest = self._error(opinions, chosen, labels)
        for _, view in product(range(ROUNDS), range(len(opinions))):
            for level in LEVELS:
                tried = [*chosen[:view], level, *chosen[view + 1 :]]
                error = self._error(opinions, tried, labels)
                if error < lowest:
                    chosen, lowest = tried, error
        self.reliability = torch.tensor(chosen, dtype=torch.float64, device=labels.device)

    def _error(self, opinions: Sequence[Opinion], levels: Sequence[float], labels: Tensor) -> float:
        probability = self._fused(opinions, levels).probability
        return float(-probability.gather(1, labels.unsqueeze(1)).log().mean())

    @staticmethod
    def _fused(opinions: Sequence[Opinion], levels: Sequence[float]) -> Opinion:
        return fuse(
            [
                each if level == 1 else discount(each, each.log_growth.new_tensor(level))
                for each, level in zip(opinions, levels, strict=True)
            ]
        )

    def _load_from_state_dict(self, state: dict[str, Tensor], prefix: str, *rest: object) -> None:
        """Take reliabilities of any number of views."""
        stored = state.get(f"{prefix}reliability")
        if stored is not None:
            self.reliability = torch.empty_like(stored)
        super()._load_from_state_dict(state, prefix, *rest)
