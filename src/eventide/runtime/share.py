"""A worker's share of the work: everything for one process, a part where several train together.

Workers of a group do the same steps in the same order. Each owns the messages whose row leaves its
rank when divided by their number. What is a sum over messages is added up over the workers, by
`torch.distributed`; one worker alone asks nobody, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Share:
    """The share of worker ``rank`` of ``size``.

    >>> Share(1, 2).own(np.array([5, 2, 3])).tolist(), Share().own(np.array([5, 2])).tolist()
    ([5, 3], [5, 2])
    """

    rank: int = 0
    size: int = 1
    device: torch.device | None = None
    """Where this worker computes; None: where the settings say."""

    @property
    def first(self) -> bool:
        """Whether this worker is the one that writes."""
        return self.rank == 0

    def own(self, rows: Ints) -> Ints:
        """Return those of ``rows`` that this worker owns, in order."""
        return rows if self.size == 1 else rows[self.owns(rows)]

    def owns(self, rows: Ints) -> NDArray[np.bool_]:
        """Say which of ``rows`` this worker owns."""
        mine: NDArray[np.bool_] = rows % self.size == self.rank
        return mine

    def places(self, rows: Ints) -> Ints:
        """Return the place of own ``rows`` among all that this worker owns, in ascending order."""
        return rows // self.size

    def sum(self, values: Tensor) -> Tensor:
        """Add up the workers' ``values``; no gradient."""
        if self.size == 1:
            return values
        total = values.detach().clone()
        torch.distributed.all_reduce(total)
        return total

    def largest(self, values: Tensor) -> Tensor:
        """Return the largest of the workers' ``values``, one by one."""
        if self.size == 1:
            return values
        total = values.detach().clone()
        torch.distributed.all_reduce(total, torch.distributed.ReduceOp.MAX)
        return total

    def total(self, parts: Tensor) -> Tensor:
        """Add up the workers' ``parts`` of a sum that each reads for its own messages.

        The gradient of a part is the sum of what all workers make of the total.
        """
        if self.size == 1:
            return parts
        total: Tensor = _Total.apply(parts)  # type: ignore[no-untyped-call]
        return total

    def whole(self, values: Tensor, rows: Ints) -> Tensor:
        """Put together what each worker has of its own ``rows`` [own, ...]: all rows, in order.

        All workers compute the same with the result, so that its gradient is complete on each.
        """
        if self.size == 1:
            return values
        mine = torch.from_numpy(np.flatnonzero(self.owns(rows))).to(values.device)
        parts = values.new_zeros(len(rows), *values.shape[1:]).index_copy(0, mine, values)
        together: Tensor = _Whole.apply(parts)  # type: ignore[no-untyped-call]
        return together

    def once(self, weights: Tensor) -> Tensor:
        """Return weights of the network that every worker reads alike, outside its own messages.

        Each worker gives a part of their gradient, so that all parts add up to one.
        """
        if self.size == 1:
            return weights
        read: Tensor = _Once.apply(weights, self.size)  # type: ignore[no-untyped-call]
        return read

    def add_up_gradients(self, divided: nn.Module, same: nn.Module) -> None:
        """After a backward pass: complete the gradients, the same bits on every worker.

        Those of ``divided`` are of the own messages and are added up; those of ``same`` are
        complete on each worker, and the first one's are taken.
        """
        if self.size == 1:
            return
        weights = [*divided.parameters(), *same.parameters()]
        known = [float(each.grad is not None) for each in weights]
        there = torch.tensor(known, device=weights[0].device)
        torch.distributed.all_reduce(there, torch.distributed.ReduceOp.MAX)
        kept = {id(each) for each in divided.parameters()} if not self.first else None
        wanted = [each for each, some in zip(weights, there.tolist(), strict=True) if some]
        if not wanted:
            return
        flat = torch.cat(
            [
                torch.zeros_like(each).flatten()
                if each.grad is None or (kept is not None and id(each) not in kept)
                else each.grad.flatten()
                for each in wanted
            ]
        )
        torch.distributed.all_reduce(flat)
        for each, part in zip(
            wanted, torch.split(flat, [each.numel() for each in wanted]), strict=True
        ):
            each.grad = part.view_as(each)


class _Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, parts: Tensor) -> Tensor:
        total = parts.clone()
        torch.distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        total = upstream[0].contiguous().clone()
        torch.distributed.all_reduce(total)
        return total


class _Whole(_Total):
    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        return upstream[0]


class _Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, size: int) -> Tensor:
        ctx.size = size
        return weights.view_as(weights)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None]:
        return upstream[0] / ctx.size, None


_current: ContextVar[Share] = ContextVar("share", default=Share())  # noqa: B039 (immutable)


def current_share() -> Share:
    """Return this worker's share; all of the work unless `shared_by` says otherwise."""
    return _current.get()


@contextmanager
def shared_by(share: Share) -> Iterator[Share]:
    """Inside, training is done by a group of workers, of which this process is one."""
    before = _current.set(share)
    try:
        yield share
    finally:
        _current.reset(before)
