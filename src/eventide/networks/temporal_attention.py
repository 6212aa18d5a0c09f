"""One layer of the encoder: what a message's neighbours say, nearer in time counting more."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.networks.initialisation import seeded_linear
from eventide.networks.settings import TimeDecay
from eventide.tensors import widen

Average = Callable[[Tensor], Tensor]
"""From one rate per message to the time-weighted average of its neighbours' states."""


@dataclass(frozen=True, eq=False)
class Projection:
    """States after a layer's linear maps: only the averaging is left, in any view.

    ``values`` [n, outputs], ``rates`` [n], and what a residual layer adds, ``own`` [n, outputs].
    """

    values: Tensor
    rates: Tensor
    own: Tensor | None

    def leaf(self) -> Projection:
        """Return the same, cut off from the linear maps: gradients gather in it."""
        parts = (self.values, self.rates, self.own)
        return Projection(
            *(each if each is None else each.detach().requires_grad_() for each in parts)  # type: ignore[arg-type]
        )

    def send_back(self, leaf: Projection) -> None:
        """Give the linear maps the gradients that gathered in ``leaf``, which is emptied."""
        outputs, gradients = [], []
        for mine, cut in zip(
            (self.values, self.rates, self.own), (leaf.values, leaf.rates, leaf.own), strict=True
        ):
            if mine is not None and cut is not None and cut.grad is not None and mine.requires_grad:
                outputs.append(mine)
                gradients.append(cut.grad)
                cut.grad = None
        torch.autograd.backward(outputs, gradients)

    def plus_own(self, averages: Tensor, rows: Tensor | None) -> Tensor:
        """Finish the layer for ``rows`` (all if None), given their averages, in their place."""
        if self.own is None:
            return averages
        return averages.add_(self.own if rows is None else self.own[rows])


class TemporalAttention(nn.Module):
    """Equations `eq_temGnn` and `attention`, before the activation.

    z = W h;  rate_i = w . z_i;  a_ij = softmax_j(-rate_i * abs(t_i - t_j));  out_i = sum_j a_ij z_j

    With `positive` time decay the rate is softplus(w . z_i + b), where the constant b makes it
    ``initial_rate`` at w . z_i = 0. Both maps are linear in h, so there are two exact ways.
    ``forward`` never forms z: w . z_i = (W^T w) . h_i is one number per message, and
    out_i = W (sum_j a_ij h_j) applies W to the averages of the wanted messages alone. ``project``
    forms z for all messages, once for all views that share h.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        residual: bool = False,
        time_decay: TimeDecay = "free",
        initial_rate: float = math.log(2),
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.time_decay = time_decay
        self.offset = initial_rate + math.log(-math.expm1(-initial_rate))
        self.transform = seeded_linear(inputs, outputs, bias=False, generator=generator)
        self.rate = seeded_linear(outputs, 1, bias=False, generator=generator)
        self.own = (
            seeded_linear(inputs, outputs, bias=False, generator=generator) if residual else None
        )

    def rates(self, states: Tensor) -> Tensor:
        """Say for each row of ``states`` [n, inputs] how fast attention decays with time, [n].

        Never in half precision: a rate is multiplied by days and then exponentiated.
        """
        with torch.autocast(states.device.type, enabled=False):
            direction = self.rate.weight @ self.transform.weight
            return self._decayed((states @ direction.T).squeeze(-1))

    def _decayed(self, scores: Tensor) -> Tensor:
        """Turn w . z into rates."""
        match self.time_decay:
            case "free":
                return scores
            case "positive":
                return functional.softplus(scores + self.offset)
            case "none":
                return torch.zeros_like(scores)

    def project(self, states: Tensor) -> Projection:
        """Compute what is left to average: z, the rates, and what is added to the averages."""
        values = widen(self.transform(states))
        with torch.autocast(states.device.type, enabled=False):
            rates = self._decayed(self.rate(values)[:, 0])
        return Projection(values, rates, None if self.own is None else widen(self.own(states)))

    def forward(self, states: Tensor, average: Average) -> Tensor:
        """Update ``states`` [n, inputs] to [n, outputs].

        ``average`` knows the neighbourhoods of exactly these n messages: given their rates [n], it
        returns the weighted average of their neighbours' states [n, inputs].
        """
        updated = widen(self.transform(average(self.rates(states))))
        return updated if self.own is None else updated + self.own(states)
