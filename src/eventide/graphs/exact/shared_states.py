"""Hidden states that several steps of training share.

Between two updates of the layers below, the states of all messages do not change: a step may read
their bucket sums as they are, which costs what its batch reads and not what all messages cost. Each
step leaves its rates and the gradients of its averages here. When the layers below learn, one
backward pass of all these rows together makes the gradient of the states out of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.exact.attention import Weights, read, read_with_slopes, send_back
from eventide.graphs.exact.bucket_index import BucketIndex
from eventide.graphs.exact.gather_schedule import GatherSchedules
from eventide.graphs.exact.products import FixedMatrix, empty
from eventide.graphs.incidence import Ints
from eventide.runtime.own_process import give_back_memory


class SharedStates:
    """What the steps of a round read of the states [N, width] of all messages.

    They run ``rows`` alone: only the states and bucket sums that these read are kept.
    """

    def __init__(self, bucket_index: BucketIndex, states: Tensor, rows: Ints) -> None:
        self._rows = np.unique(rows)
        readers, buckets = bucket_index.readers.only(self._rows)
        messages = np.unique(np.concatenate([self._rows, readers.reads.direct.messages]))
        self._readers = readers.among(messages)
        self._members = FixedMatrix(bucket_index.members[buckets])
        self._own = np.searchsorted(messages, self._rows)
        self._messages = torch.from_numpy(messages).to(states.device)
        self._count, states = len(states), states.detach()
        self.values = states.index_select(0, self._messages)
        self.sums = self._members.plain(states)
        #: row, rate and gradient of every average that was read
        self._averages: list[tuple[Ints, Tensor, Tensor]] = []
        #: row and gradient of every state that was read as the reader's own
        self._owned: list[tuple[Ints, Tensor]] = []

    def read(self, rows: Ints, source: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return the states of ``rows``, and how to average around them given their rates.

        Whatever ``source``, a scalar with a gradient, depends on learns after all that was read.
        """
        at = np.searchsorted(self._rows, rows)
        own: Tensor = _ReadOwn.apply(source, self, at)  # type: ignore[no-untyped-call]
        return own, partial(self._average, source, at)

    def _average(self, source: Tensor, at: Ints, rates: Tensor) -> Tensor:
        with torch.autocast(rates.device.type, enabled=False):  # as everywhere in the graph
            out: Tensor = _ReadAround.apply(source, rates, self, at)  # type: ignore[no-untyped-call]
        return out

    def schedules(self, at: Ints) -> GatherSchedules:
        """How readers ``at`` these places read."""
        return GatherSchedules(self._readers.take(at), self.values.device)

    def own(self, at: Ints) -> Tensor:
        """Where the states of readers ``at`` these places are."""
        return torch.from_numpy(self._own[at]).to(self.values.device)

    def receive_own(self, at: Ints, gradient: Tensor) -> None:
        """Keep what a step sends back to the states that it read as its own."""
        self._owned.append((at, gradient))

    def receive_average(self, at: Ints, rates: Tensor, gradient: Tensor) -> None:
        """Keep what a step sends back to its averages."""
        self._averages.append((at, rates, gradient))

    def close(self) -> None:
        """Let go of what was to be read: a million messages have gigabytes of it."""
        self.values, self.sums = self.values[:0].clone(), self.sums[:0].clone()

    @torch.no_grad()
    def total(self) -> Tensor:
        """Return the mean over the steps of the gradient of all states [N, width]."""
        like, steps = self.values[:0], len(self._averages)
        if not steps:
            return like.new_zeros(self._count, like.shape[1])
        to_sums, to_values = empty(self._members.shape[0], like), empty(len(self._messages), like)
        at, rates, gradients = (list(each) for each in zip(*self._averages, strict=True))
        self._averages = []
        readers, rate, gradient = np.concatenate(at), torch.cat(rates), torch.cat(gradients)
        del gradients
        their = self._readers.take(readers)
        schedules = GatherSchedules(their, like.device, keep=False, reorder=True)
        for number, (rows, schedule) in enumerate(schedules):
            weights = Weights(schedule, rate[rows])
            wanted = to_sums, to_values, None
            send_back(schedule, weights, gradient[rows], (like, like), wanted, add=number > 0)
        del gradient
        for places, own in self._owned:
            to_values.index_add_(0, self.own(places), own)
        self._owned = []
        del schedules, their
        give_back_memory()
        total = like.new_zeros(self._count, like.shape[1])
        total.index_copy_(0, self._messages, to_values)
        del to_values
        return self._members.add_transposed(to_sums, total).div_(steps)


class _ReadOwn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, source: Tensor, shared: SharedStates, at: Ints) -> Tensor:
        ctx.shared, ctx.at = shared, at
        return shared.values.index_select(0, shared.own(at))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        ctx.shared.receive_own(ctx.at, gradient)
        return gradient.new_zeros(()), None, None


class _ReadAround(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, source: Tensor, rates: Tensor, shared: SharedStates, at: Ints) -> Tensor:
        ctx.shared, ctx.at = shared, at
        learn = ctx.needs_input_grad[1]
        width = shared.values.shape[1]
        out = shared.values.new_empty((len(at), 2, width) if learn else (len(at), width))
        for rows, schedule in shared.schedules(at):
            weights = Weights(schedule, rates[rows])
            each = read_with_slopes if learn else read
            each(schedule, weights, shared.sums, shared.values, out[rows])
        ctx.save_for_backward(rates, out[:, 1] if learn else None)
        return out[:, 0].contiguous() if learn else out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rates, slopes = ctx.saved_tensors
        ctx.shared.receive_average(ctx.at, rates.detach(), gradient.contiguous())
        to_rates = None if slopes is None else (gradient * slopes).sum(dim=1)
        return gradient.new_zeros(()), to_rates, None, None


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
