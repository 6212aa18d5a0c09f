"""Hidden states that several steps of training share.

Between two updates of the layers below, the states of all messages do not change: a step may read
their bucket sums as they are, which costs what its batch reads and not what all messages cost. What
each step sends back is added up here, and passed on once, when the layers below learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.exact.attention import average_sums
from eventide.graphs.exact.bucket_index import BucketIndex
from eventide.graphs.exact.gather_schedule import GatherSchedules
from eventide.graphs.exact.products import FixedMatrix


class SharedStates:
    """The states [N, width] of all messages, their bucket sums, and the gradients of both.

    ``states`` may depend on weights: ``read`` passes all gradients on to them when it is told that
    it is the last to read.
    """

    def __init__(self, bucket_index: BucketIndex, members: FixedMatrix, states: Tensor) -> None:
        self._states, self._members, self._bucket_index = states, members, bucket_index
        self.values = states.detach()
        self.sums = members.plain(self.values)
        self._to_values = torch.zeros_like(self.values)
        self._to_sums = torch.zeros_like(self.sums)
        self._anchor = torch.zeros((), device=states.device, requires_grad=True)
        self._steps = 0

    def read(self, rows: Tensor, *, last: bool) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return the states of ``rows``, and how to average around them given their rates.

        The ``last`` reader's backward pass gives ``states`` the mean of all readers' gradients.
        """
        wanted = rows.cpu().numpy()
        readers, buckets = self._bucket_index.readers.only(wanted)
        direct = readers.reads.direct
        messages, places = np.unique(np.concatenate([wanted, direct.messages]), return_inverse=True)
        own, single = places[: len(wanted)], places[len(wanted) :]
        reads = replace(readers.reads, direct=replace(direct, messages=single))
        readers = replace(
            readers,
            reads=reads,
            messages=len(messages),
            own=None if readers.own is None else own,
        )
        device = self.values.device
        source = self._states if last and self._states.requires_grad else self._anchor
        some = (torch.from_numpy(each).to(device) for each in (messages, buckets))
        values, sums = _Read.apply(source, self, *some)  # type: ignore[no-untyped-call]
        around = partial(average_sums, sums, values, schedules=GatherSchedules(readers, device))
        return values[torch.from_numpy(own).to(device)], around

    def receive(
        self, messages: Tensor, to_values: Tensor, buckets: Tensor, to_sums: Tensor
    ) -> None:
        """Add what a step sends back to the rows that it has read."""
        self._to_values.index_add_(0, messages, to_values)
        self._to_sums.index_add_(0, buckets, to_sums)
        self._steps += 1

    def total(self) -> Tensor:
        """Return the gradient of the states: the mean over the steps, sums passed on to members."""
        return self._members.add_transposed(self._to_sums, self._to_values) / self._steps


class _Read(torch.autograd.Function):
    """Read rows of values and sums; ``source``: the states, or an anchor that gets nothing."""

    @staticmethod
    def forward(
        ctx: Any, source: Tensor, shared: SharedStates, messages: Tensor, buckets: Tensor
    ) -> tuple[Tensor, Tensor]:
        ctx.shared, ctx.rows, ctx.last = shared, (messages, buckets), source.dim() > 0
        return shared.values.index_select(0, messages), shared.sums.index_select(0, buckets)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_values: Tensor, to_sums: Tensor) -> tuple[Tensor | None, ...]:
        messages, buckets = ctx.rows
        ctx.shared.receive(messages, to_values, buckets, to_sums)
        return (ctx.shared.total() if ctx.last else None), None, None, None


class PooledStates:
    """The states [n, width] of some messages, read as a whole by every step of a round."""

    def __init__(self, states: Tensor) -> None:
        self._states, self.values = states, states.detach()
        self._pool = torch.zeros_like(self.values)
        self._anchor = torch.zeros((), device=states.device, requires_grad=True)
        self._steps = 0

    def read(self, *, last: bool) -> Tensor:
        """Return the states; the ``last`` reader's backward pass hands on the mean gradient."""
        source = self._states if last and self._states.requires_grad else self._anchor
        read: Tensor = _ReadAll.apply(source, self)  # type: ignore[no-untyped-call]
        return read

    def receive(self, gradient: Tensor) -> Tensor:
        """Add what a step sends back; return the mean over all steps so far."""
        self._steps += 1
        return self._pool.add_(gradient) / self._steps


class _ReadAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, source: Tensor, pooled: PooledStates) -> Tensor:
        ctx.pooled, ctx.last = pooled, source.dim() > 0
        return pooled.values.view_as(pooled.values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None]:
        mean = ctx.pooled.receive(gradient)
        return (mean if ctx.last else None), None
