"""Differentiable averages: autograd functions around ``attention``, chunk by chunk."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.attention import Weights, read, send_back
from eventide.graphs.plan import Plans
from eventide.graphs.products import FixedMatrix, empty


def average_values(values: Tensor, rates: Tensor, members: FixedMatrix, plans: Plans) -> Tensor:
    """Sum ``values`` into buckets by ``members`` and average them by ``plans``.

    Gradients to values and rates. Never in half precision: sums over many neighbours lose too much.
    """
    with torch.autocast(values.device.type, enabled=False):
        out: Tensor = _AverageValues.apply(values, rates, members, plans)  # type: ignore[no-untyped-call]
    return out


def average_sums(sums: Tensor, values: Tensor, rates: Tensor, plans: Plans) -> Tensor:
    """Average ready bucket ``sums`` and direct ``values`` by ``plans``.

    Gradients to all three. Never in half precision, as in ``average_values``.
    """
    with torch.autocast(values.device.type, enabled=False):
        out: Tensor = _AverageSums.apply(sums, values, rates, plans)  # type: ignore[no-untyped-call]
    return out


def _forward(ctx: Any, sums: Tensor, values: Tensor, rates: Tensor, plans: Plans) -> Tensor:
    out = empty(plans.count, sums)
    kept = {}
    for rows, plan in plans:
        weights = Weights(plan, rates[rows])
        read(plan, weights, sums, values, out[rows])
        if plans.kept:
            kept[rows.start] = weights
    ctx.save_for_backward(sums, values, rates)
    ctx.plans, ctx.weights = plans, kept
    return out


def _backward(
    ctx: Any, gradient: Tensor, grad_sums: Tensor | None, grad_values: Tensor | None, pace: bool
) -> Tensor | None:
    """Write the gradients of sums and values, if wanted; return that of the rates, if ``pace``."""
    sums, values, rates = ctx.saved_tensors
    gradient = gradient.contiguous()
    grad_rates = torch.empty_like(rates) if pace else None
    for number, (rows, plan) in enumerate(ctx.plans):
        weights = ctx.weights.get(rows.start) or Weights(plan, rates[rows])
        to_rates = None if grad_rates is None else grad_rates[rows]
        wanted = grad_sums, grad_values, to_rates
        send_back(plan, weights, gradient[rows], (sums, values), wanted, add=number > 0)
    return grad_rates


class _AverageSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, sums: Tensor, values: Tensor, rates: Tensor, plans: Plans) -> Tensor:
        return _forward(ctx, sums, values, rates, plans)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        sums, values, _ = ctx.saved_tensors
        needs = ctx.needs_input_grad
        grad_sums = empty(len(sums), sums) if needs[0] else None
        grad_values = empty(len(values), values) if needs[1] else None
        grad_rates = _backward(ctx, gradient, grad_sums, grad_values, needs[2])
        return grad_sums, grad_values, grad_rates, None


class _AverageValues(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, rates: Tensor, members: FixedMatrix, plans: Plans
    ) -> Tensor:
        ctx.members = members
        return _forward(ctx, members.plain(values), values, rates, plans)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        sums, values, _ = ctx.saved_tensors
        wanted, pace = ctx.needs_input_grad[:2]
        grad_sums = empty(len(sums), sums) if wanted else None
        grad_values = empty(len(values), values) if wanted else None
        grad_rates = _backward(ctx, gradient, grad_sums, grad_values, pace)
        if grad_sums is not None and grad_values is not None:
            ctx.members.turned(grad_sums, grad_values)
        return grad_values, grad_rates, None, None
