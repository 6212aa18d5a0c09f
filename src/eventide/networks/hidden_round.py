"""The hidden layers of all messages, run once for several steps of training.

The layers below the last one do not learn inside a round. They run once, when it begins, and get
one gradient, when it ends. What their gradient needs is kept in between, or computed again where
keeping it would take too much memory: then no two views hold theirs at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.neighbourhood_protocol import Neighbourhood
from eventide.networks.multi_view import MultiViewNetwork
from eventide.networks.temporal_attention import Projection

Total = Callable[[str], Tensor]
"""From a view to the gradient of its states of all messages."""


class HiddenRound:
    """Every layer but the last, for all messages with prepared ``features`` [N, features].

    What the gradient of the views ``kept`` needs is kept; the others are run again for theirs: the
    same states, dropout included.
    """

    def __init__(
        self,
        network: MultiViewNetwork,
        features: Tensor,
        graphs: Mapping[str, Neighbourhood],
        kept: Collection[str] = (),
    ) -> None:
        self._network, self._features, self._graphs = network, features, graphs
        self.learns = any(each.requires_grad for each in network.encoder.parameters())
        self._keep = set(kept) if self.learns and torch.is_grad_enabled() else set()
        self._mixed = torch.is_autocast_enabled(features.device.type)
        self._projected: Projection | None = None
        self._leaf: Projection | None = None
        self._kept: dict[str, Tensor] = {}
        self._noise: dict[str, Tensor] = {}

    def run(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the states of all messages [N, width], view by view; they are for reading alone."""
        encoder = self._network.encoder
        with torch.set_grad_enabled(bool(self._keep)):
            projected = encoder.project(self._features)
        if self._keep:
            self._projected, projected = projected, projected.leaf()
            self._leaf = projected
        for view in self._network.views:
            self._noise[view] = self._network.noise.state
            with torch.set_grad_enabled(view in self._keep):
                states = encoder.hidden(self._graphs[view], projected)
            if view in self._keep:
                self._kept[view] = states
            if view == self._network.views[-1]:
                del projected  # a gigabyte of a million messages
            yield view, states.detach()
            del states

    def source(self, total: Total) -> Tensor:
        """Return a scalar: when a backward pass comes to it, the layers get their gradient.

        ``total`` is asked then, for one view after the other.
        """
        anchor = torch.zeros((), device=self._features.device, requires_grad=True)
        if not self.learns:
            return anchor
        source: Tensor = _Learn.apply(anchor, self, total)  # type: ignore[no-untyped-call]
        return source

    def send_back(self, total: Total) -> None:
        """Give the layers the gradients of all views."""
        views = self._network.views
        with self._as_it_was():
            projected = self._projected or self._network.encoder.project(self._features)
            leaf = self._leaf or projected.leaf()
            # what is kept is large: it goes first
            for view in sorted(views, key=lambda each: each not in self._kept):
                states = self._kept.pop(view, None)
                if states is None:
                    self._network.noise.state = self._noise[view]
                    states = self._network.encoder.hidden(self._graphs[view], leaf)
                end: Tensor = _End.apply(states, partial(total, view))  # type: ignore[no-untyped-call]
                del states  # the backward pass frees it as soon as it can
                end.backward()  # type: ignore[no-untyped-call]
        projected.send_back(leaf)
        self._projected = self._leaf = None

    @contextmanager
    def _as_it_was(self) -> Iterator[None]:
        """Inside, precision is that of the round; whatever masks are drawn, none is used up."""
        noise, device = self._network.noise, self._features.device.type
        now = noise.state
        try:
            with torch.enable_grad(), torch.autocast(device, torch.bfloat16, enabled=self._mixed):
                yield
        finally:
            noise.state = now


class _End(torch.autograd.Function):
    """A scalar of states: its backward pass asks for their gradient, which nobody else holds."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, total: Callable[[], Tensor]) -> Tensor:
        ctx.total = total
        return states.new_zeros(())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.total(), None


class _Learn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, anchor: Tensor, hidden: HiddenRound, total: Total) -> Tensor:
        ctx.hidden, ctx.total = hidden, total
        return anchor.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        ctx.hidden.send_back(ctx.total)
        return gradient, None, None
