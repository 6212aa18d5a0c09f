"""The hidden layers of all messages, run once for several steps of training.

The layers below the last one do not learn inside a round. They run once, when it begins, and get
one gradient, when it ends. What their gradient needs is kept in between, or computed again where
keeping it would take too much memory: then no two views hold theirs at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.neighbourhood_protocol import Neighbourhood
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.temporal_attention import Projection

Totals = Mapping[str, Callable[[], Tensor]]
"""By view: from nothing to the gradient of the states of all messages."""


class HiddenRound:
    """Every layer but the last, for all messages with prepared ``features`` [N, features].

    ``keep`` what the gradient needs, or compute it again: the same states, dropout included.
    """

    def __init__(
        self,
        network: MultiViewNetwork,
        features: Tensor,
        graphs: Mapping[str, Neighbourhood],
        *,
        keep: bool,
    ) -> None:
        self._network, self._features, self._graphs = network, features, graphs
        self._keep = keep
        self._noise = network.noise.state
        self._mixed = torch.is_autocast_enabled(features.device.type)
        self._projected: Projection | None = None
        self._kept: dict[str, Tensor] = {}
        self.learns = any(each.requires_grad for each in network.encoder.parameters())

    def run(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the states of all messages [N, width], view by view; they are for reading alone."""
        keep = self._keep and self.learns
        with torch.set_grad_enabled(keep):
            projected = self._network.encoder.project(self._features)
        if keep:
            self._projected = projected
            projected = projected.leaf()
            self._leaf = projected
        for view in self._network.views:
            with torch.set_grad_enabled(keep):
                states = self._network.encoder.hidden(self._graphs[view], projected)
            if keep:
                self._kept[view] = states
            yield view, states.detach()
            del states

    def source(self, totals: Totals) -> Tensor:
        """Return a scalar: when a backward pass comes to it, the layers get their gradient.

        ``totals`` are asked then, one after the other, for the gradient of the states.
        """
        anchor = torch.zeros((), device=self._features.device, requires_grad=True)
        if not self.learns:
            return anchor
        source: Tensor = _Learn.apply(anchor, self, totals)  # type: ignore[no-untyped-call]
        return source

    def send_back(self, totals: Totals) -> None:
        """Give the layers the gradients of all views."""
        with self._as_it_was():
            if not self._keep:
                self._projected = self._network.encoder.project(self._features)
                self._leaf = self._projected.leaf()
            for view in self._network.views:
                total = totals[view]()
                states = self._kept.pop(view, None)
                if states is None:
                    states = self._network.encoder.hidden(self._graphs[view], self._leaf)
                torch.autograd.backward(states, total)
                del states, total
        if self._projected is None:
            raise AssertionError("the round has not been run")
        self._projected.send_back(self._leaf)
        self._projected = None
        del self._leaf

    @contextmanager
    def _as_it_was(self) -> Iterator[None]:
        """Inside, masks are drawn as when the round began, in the same precision."""
        noise, device = self._network.noise, self._features.device.type
        now, noise.state = noise.state, self._noise
        try:
            with torch.enable_grad(), torch.autocast(device, torch.bfloat16, enabled=self._mixed):
                yield
        finally:
            noise.state = now


class _Learn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, anchor: Tensor, hidden: HiddenRound, totals: Totals) -> Tensor:
        ctx.hidden, ctx.totals = hidden, totals
        return anchor.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        ctx.hidden.send_back(ctx.totals)
        return gradient, None, None
