"""Temporal attention over buckets: softmax-weighted reads with hand-written gradients.

``average_values`` and ``average_sums`` are the differentiable averages, computed in chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from eventide.graphs.exact.gather_schedule import Chosen, GatherSchedule, GatherSchedules
from eventide.graphs.exact.products import FixedMatrix, empty
from eventide.runtime.single_precision import small_products

RUN = 1 << 16  # weights that are computed at once
PART_BYTES = 1 << 30  # bucket sums of the columns that are averaged at a time
LEAST_COLUMNS = 16


class Weights:
    """The softmax of each reader; ``reads`` holds c_ik * a_ik in the order of the schedule.

    A weight depends only on the reader and the time, so it is computed once for each time of a
    reader and looked up for every read.
    """

    def __init__(self, schedule: GatherSchedule, rates: Tensor) -> None:
        self._schedule, self._rates = schedule, rates
        # integers first: rate * (distance - reference) has one rounding and is never negative
        self._reference = torch.where(
            rates < 0, schedule.farthest, torch.zeros_like(schedule.farthest)
        )
        self._each = empty(len(schedule.count_readers), rates)
        counts = empty(len(schedule.count_readers), rates)
        for run in _runs(counts):
            readers = schedule.count_readers[run]
            exponents = self._relative(run).mul_(rates.index_select(0, readers))
            torch.exp(exponents.neg_(), out=self._each[run])
            if schedule.allowed is not None:
                self._each[run] *= schedule.allowed[run]
            torch.mul(self._each[run], schedule.count_values[run], out=counts[run])
        self._total = torch.segment_reduce(counts, "sum", offsets=schedule.count_pointers)
        if schedule.own is not None:  # the own value is apart; its distance is 0
            own_power = torch.exp(rates * self._reference)
            self._total += own_power
            self.own = own_power / self._total
        for run in _runs(counts):
            self._each[run] /= self._total.index_select(0, schedule.count_readers[run])
        self.reads = empty(len(schedule.read_slots), rates)
        torch.index_select(self._each, 0, schedule.read_slots, out=self.reads)
        parts(schedule, self.reads)[1].mul_(schedule.direct_coefficients)

    def _relative(self, run: slice) -> Tensor:
        """Distance of each time minus the reference distance."""
        schedule = self._schedule
        reference = self._reference.index_select(0, schedule.count_readers[run])
        return (schedule.count_distances[run] - reference).to(self._rates.dtype)

    def slopes(self, dots: Tensor, own_dots: Tensor | None, out: Tensor) -> None:
        """Write the gradient of the rates into ``out``, given that of every a_ik and of the own."""
        schedule = self._schedule
        parts(schedule, dots)[1].mul_(schedule.direct_coefficients)
        each = torch.zeros_like(self._each).index_add_(0, schedule.read_slots, dots)
        own = self._slope_each(each)
        out.copy_(torch.segment_reduce(each, "sum", offsets=schedule.count_pointers))
        if own_dots is not None:
            out += own * own_dots

    def slope_reads(self) -> tuple[Tensor, Tensor]:
        """The slope of every weight by its reader's rate, as ``reads``, and that of the own."""
        schedule = self._schedule
        each = torch.ones_like(self._each)
        own = self._slope_each(each)
        reads = empty(len(self.reads), self.reads)
        torch.index_select(each, 0, schedule.read_slots, out=reads)
        parts(schedule, reads)[1].mul_(schedule.direct_coefficients)
        return reads, own

    def _slope_each(self, each: Tensor) -> Tensor:
        """Multiply ``each`` weight's number by its slope; return the slope of the own weight.

        d a_ik / d rate = a_ik * (mean distance - distance): centred, so that nothing cancels.
        """
        schedule = self._schedule
        moments = empty(len(each), each)
        for run in _runs(each):
            weighted = self._relative(run).mul_(self._each[run])
            torch.mul(weighted, schedule.count_values[run], out=moments[run])
        mean = torch.segment_reduce(moments, "sum", offsets=schedule.count_pointers)
        if schedule.own is not None:
            mean -= self.own * self._reference
        for run in _runs(each):
            centred = mean.index_select(0, schedule.count_readers[run]).sub_(self._relative(run))
            each[run] *= centred.mul_(self._each[run])
        return mean if schedule.own is None else (mean + self._reference) * self.own


def _runs(reads: Tensor) -> list[slice]:
    """Pieces small enough for the temporaries of each to stay in the processor's cache."""
    return [slice(first, first + RUN) for first in range(0, len(reads), RUN)]


def parts(schedule: GatherSchedule, reads: Tensor) -> tuple[Tensor, Tensor]:
    """The parts of ``reads`` that belong to sparse and to direct reads."""
    sparse = schedule.sparse.entries
    return reads[:sparse], reads[sparse : sparse + schedule.direct.entries]


def read(
    schedule: GatherSchedule, weights: Weights, sums: Tensor, values: Tensor, out: Tensor
) -> None:
    """Write the averages of the schedule's readers into ``out`` [readers, width]."""
    sparse, direct = parts(schedule, weights.reads)
    schedule.direct.times(direct, values, out)
    schedule.sparse.times(sparse, sums, out, add=True)
    with small_products():
        for block in schedule.dense:
            product = block.weights(weights.reads) @ sums.index_select(0, block.buckets)
            out.index_add_(0, block.readers, product)
    if schedule.own is not None:
        out += weights.own[:, None] * values.index_select(0, schedule.own)


def read_with_slopes(
    schedule: GatherSchedule, weights: Weights, sums: Tensor, values: Tensor, out: Tensor
) -> None:
    """Write the averages into ``out`` [readers, 2, width], and beside them their slopes by rate.

    Both in one go: reading the sums costs more than adding them up.
    """
    reads = weights.reads
    slopes, own_slope = weights.slope_reads()
    flat = out.view(-1, out.shape[-1])
    (sparse, direct), (other_sparse, other_direct) = parts(schedule, reads), parts(schedule, slopes)
    schedule.direct.times_both(direct, other_direct, values, flat, add=False)
    schedule.sparse.times_both(sparse, other_sparse, sums, flat, add=True)
    with small_products():
        for block in schedule.dense:
            source = sums.index_select(0, block.buckets)
            for each, target in zip((reads, slopes), out.unbind(1), strict=True):
                target.index_add_(0, block.readers, block.weights(each) @ source)
    if schedule.own is not None:
        own = values.index_select(0, schedule.own)
        out += torch.stack([weights.own, own_slope], dim=1)[:, :, None] * own[:, None]


def send_back(
    schedule: GatherSchedule,
    weights: Weights,
    gradient: Tensor,
    sources: tuple[Tensor, Tensor],
    wanted: tuple[Tensor | None, Tensor | None, Tensor | None],
    *,
    add: bool,
) -> None:
    """The backward pass of ``read``: ``sources`` are sums and values.

    ``wanted`` receives the gradients of sums, values (added to with ``add``) and rates.
    """
    (sums, values), (to_sums, to_values, to_rates) = sources, wanted
    sparse, direct = parts(schedule, weights.reads)
    if to_sums is not None:
        schedule.sparse.transposed_times(sparse, gradient, to_sums, add=add)
    if to_values is not None:
        schedule.direct.transposed_times(direct, gradient, to_values, add=add)
    # gradient . source for every read; the slope of its weight multiplies it
    dots = empty(len(weights.reads), weights.reads)
    if to_rates is not None:
        sparse_dots, direct_dots = parts(schedule, dots)
        schedule.sparse.dots(gradient, sums, sparse_dots)
        schedule.direct.dots(gradient, values, direct_dots)
    with small_products():
        for block in schedule.dense:
            received = gradient.index_select(0, block.readers)
            if to_sums is not None:
                to_sums.index_add_(0, block.buckets, block.weights(weights.reads).T @ received)
            if to_rates is not None:
                source = sums.index_select(0, block.buckets)
                torch.mm(received, source.T, out=block.weights(dots))
    own_dots = None
    if schedule.own is not None:
        if to_values is not None:
            to_values.index_add_(0, schedule.own, weights.own[:, None] * gradient)
        if to_rates is not None:
            own_dots = (gradient * values.index_select(0, schedule.own)).sum(dim=1)
    if to_rates is not None:
        weights.slopes(dots, own_dots, to_rates)


def average_values(
    values: Tensor, rates: Tensor, members: FixedMatrix, schedules: GatherSchedules
) -> Tensor:
    """Sum ``values`` into buckets by ``members`` and average them by ``schedules``.

    Gradients to values and rates. Never in half precision: sums over many neighbours lose too much.
    """
    with torch.autocast(values.device.type, enabled=False):
        out: Tensor = _AverageValues.apply(values, rates, members, schedules)  # type: ignore[no-untyped-call]
    return out


def average_sums(sums: Tensor, values: Tensor, rates: Tensor, schedules: GatherSchedules) -> Tensor:
    """Average ready bucket ``sums`` and direct ``values`` by ``schedules``.

    Gradients to all three. Never in half precision, as in ``average_values``.
    """
    with torch.autocast(values.device.type, enabled=False):
        out: Tensor = _AverageSums.apply(sums, values, rates, schedules)  # type: ignore[no-untyped-call]
    return out


def column_parts(buckets: int, values: Tensor) -> list[slice]:
    """Split the columns of ``values`` so that the bucket sums of each part fit ``PART_BYTES``.

    Each column is averaged by itself: a million messages never have all their sums at once. Parts
    are few and of one size, as each goes through all schedules again.

    >>> column_parts(PART_BYTES // 4 // 32, torch.zeros(1, 48))
    [slice(0, 32, None), slice(32, 48, None)]
    """
    width = max(values.shape[1], 1)
    most = PART_BYTES // max(buckets * values.element_size(), 1) // LEAST_COLUMNS
    pieces = -(-width // LEAST_COLUMNS)
    step = -(-pieces // -(-pieces // max(most, 1))) * LEAST_COLUMNS
    return [slice(first, min(first + step, width)) for first in range(0, width, step)]


def _all_weights(schedules: GatherSchedules, rates: Tensor) -> list[Weights]:
    """The weights of each schedule, where there is but one: of many they would fill the memory."""
    if schedules.several or not schedules.kept:
        return []
    return [Weights(schedule, rates[rows]) for rows, schedule in schedules]


def _with_weights(
    schedules: GatherSchedules, rates: Tensor, ready: list[Weights]
) -> Iterator[tuple[Chosen, GatherSchedule, Weights]]:
    for number, (rows, schedule) in enumerate(schedules):
        yield rows, schedule, ready[number] if ready else Weights(schedule, rates[rows])


def _read_all(
    sums: Tensor,
    values: Tensor,
    rates: Tensor,
    schedules: GatherSchedules,
    ready: list[Weights],
    out: Tensor,
) -> None:
    for rows, schedule, weights in _with_weights(schedules, rates, ready):
        if isinstance(rows, slice):
            read(schedule, weights, sums, values, out[rows])
        else:
            part = empty(len(rows), out)
            read(schedule, weights, sums, values, part)
            out[rows] = part


def _send_all_back(
    ctx: Any,
    gradient: Tensor,
    sources: tuple[Tensor, Tensor],
    wanted: tuple[Tensor | None, Tensor | None, Tensor | None],
) -> None:
    """Write the gradients of sums, values and rates where they are wanted."""
    to_sums, to_values, to_rates = wanted
    all_weights = _with_weights(ctx.schedules, ctx.rates, ctx.weights)
    for number, (rows, schedule, weights) in enumerate(all_weights):
        part = None if to_rates is None else empty(schedule.readers, to_rates)
        given = gradient[rows].contiguous()
        each = to_sums, to_values, part
        send_back(schedule, weights, given, sources, each, add=number > 0)
        if to_rates is not None and part is not None:
            to_rates[rows] = part


class _AverageSums(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, sums: Tensor, values: Tensor, rates: Tensor, schedules: GatherSchedules
    ) -> Tensor:
        ctx.weights = _all_weights(schedules, rates)
        out = empty(schedules.count, sums)
        _read_all(sums, values, rates, schedules, ctx.weights, out)
        ctx.save_for_backward(sums, values)
        ctx.schedules, ctx.rates = schedules, rates.detach()
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        sums, values = ctx.saved_tensors
        needs = ctx.needs_input_grad
        grad_sums = empty(len(sums), sums) if needs[0] else None
        grad_values = empty(len(values), values) if needs[1] else None
        grad_rates = torch.empty_like(ctx.rates) if needs[2] else None
        wanted = grad_sums, grad_values, grad_rates
        _send_all_back(ctx, gradient.contiguous(), (sums, values), wanted)
        return grad_sums, grad_values, grad_rates, None


class _AverageValues(torch.autograd.Function):
    """The sums of the values are kept for the backward pass, or, in parts, computed again."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, rates: Tensor, members: FixedMatrix, schedules: GatherSchedules
    ) -> Tensor:
        ctx.parts = column_parts(members.shape[0], values)
        ctx.members, ctx.schedules, ctx.rates = members, schedules, rates.detach()
        weights, whole = _all_weights(schedules, rates), len(ctx.parts) == 1
        out = empty(schedules.count, values)
        for columns in ctx.parts:
            sums, some = members.plain(values[:, columns]), values[:, columns]
            _read_all(sums, some, rates, schedules, weights, out[:, columns])
        ctx.weights = weights if whole else []
        ctx.save_for_backward(values, sums if whole else None)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        values, kept = ctx.saved_tensors
        wanted, for_rates = ctx.needs_input_grad[:2]
        ctx.weights = ctx.weights or _all_weights(ctx.schedules, ctx.rates)
        grad_values = empty(len(values), values) if wanted else None
        grad_rates = torch.zeros_like(ctx.rates) if for_rates else None
        # sums that are computed again lie beside their gradient
        parts = ctx.parts if kept is not None else column_parts(2 * ctx.members.shape[0], values)
        for columns in parts:
            some = values[:, columns]
            sums = ctx.members.plain(some) if kept is None else kept
            to_sums = empty(len(sums), sums) if wanted else None
            to_values = None if grad_values is None else grad_values[:, columns]
            to_rates = torch.empty_like(ctx.rates) if for_rates else None
            _send_all_back(ctx, gradient[:, columns], (sums, some), (to_sums, to_values, to_rates))
            if to_sums is not None and to_values is not None:
                ctx.members.add_transposed(to_sums, to_values)
            if grad_rates is not None and to_rates is not None:
                grad_rates += to_rates
        ctx.weights = []
        return grad_values, grad_rates, None, None
