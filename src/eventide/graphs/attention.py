"""Temporal attention over buckets: softmax-weighted reads, and their gradients by hand.

out_i = sum over reads k of c_ik * a_ik * source_k, a_ik = exp(-rate_i * distance_ik) / den_i,
den_i = sum over times of (number of neighbours) * exp(-rate_i * distance). Sources are bucket sums,
and values for direct reads. The numbers of neighbours are net integers, so den_i has no
cancellation; exponents are taken against the largest, so that nothing overflows and den_i >= 1,
for any rate and any time span.
"""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.graphs.plan import Plan

RUN = 1 << 17  # reads whose weights are computed at once


class Weights:
    """The softmax of each reader; ``reads`` holds c_ik * a_ik in the order of the plan."""

    def __init__(self, plan: Plan, rates: Tensor) -> None:
        self._plan, self._rates = plan, rates
        # integers first: rate * (distance - reference) has one rounding and is never negative
        self._reference = torch.where(rates < 0, plan.farthest, torch.zeros_like(plan.farthest))
        self._counts = rates.new_empty(len(plan.count_readers))
        for run in _runs(self._counts):
            powers = self._powers(plan.count_readers[run], plan.count_distances[run])
            torch.mul(powers, plan.count_numbers[run], out=self._counts[run])
        self._total = torch.segment_reduce(self._counts, "sum", offsets=plan.count_pointers)
        self.reads = rates.new_empty(len(plan.read_readers))
        for run in _runs(self.reads):
            readers = plan.read_readers[run]
            powers = self._powers(readers, plan.read_distances[run])
            torch.div(powers, self._total.index_select(0, readers), out=self.reads[run])
        parts(plan, self.reads)[1].mul_(plan.direct_coefficients)

    def _relative(self, readers: Tensor, distances: Tensor) -> Tensor:
        return (distances - self._reference.index_select(0, readers)).to(self._rates.dtype)

    def _powers(self, readers: Tensor, distances: Tensor) -> Tensor:
        """exp(-rate * relative distance)."""
        exponents = self._relative(readers, distances).mul_(self._rates.index_select(0, readers))
        return exponents.neg_().exp_()

    def times_slopes(self, dots: Tensor) -> None:
        """Multiply ``dots`` by d reads / d rate = reads * (mean distance - distance), in place.

        Distances are centred, so that nothing cancels.
        """
        plan = self._plan
        moments = torch.empty_like(self._counts)
        for run in _runs(moments):
            relative = self._relative(plan.count_readers[run], plan.count_distances[run])
            torch.mul(relative, self._counts[run], out=moments[run])
        mean = torch.segment_reduce(moments, "sum", offsets=plan.count_pointers) / self._total
        for run in _runs(dots):
            readers = plan.read_readers[run]
            centred = mean.index_select(0, readers)
            centred -= self._relative(readers, plan.read_distances[run])
            dots[run] *= centred.mul_(self.reads[run])


def _runs(reads: Tensor) -> list[slice]:
    """Pieces small enough for the temporaries of each to stay in the processor's cache."""
    return [slice(first, first + RUN) for first in range(0, len(reads), RUN)]


def parts(plan: Plan, reads: Tensor) -> tuple[Tensor, Tensor]:
    """The numbers of spelled and of direct reads."""
    spelled = plan.spelled.entries
    return reads[:spelled], reads[spelled : spelled + plan.direct.entries]


def read(plan: Plan, weights: Weights, sums: Tensor, values: Tensor, out: Tensor) -> None:
    """Write the averages of the plan's readers into ``out`` [readers, width]."""
    spelled, direct = parts(plan, weights.reads)
    plan.direct.times(direct, values, out)
    plan.spelled.times(spelled, sums, out, add=True)
    for block in plan.rectangles:
        product = block.weights(weights.reads) @ sums.index_select(0, block.buckets)
        out.index_add_(0, block.readers, product)


def send_back(
    plan: Plan,
    weights: Weights,
    gradient: Tensor,
    sources: tuple[Tensor, Tensor],
    wanted: tuple[Tensor | None, Tensor | None, Tensor | None],
) -> None:
    """Go backwards through ``read``: ``sources`` are sums and values.

    ``wanted`` takes the gradients of sums, values (both added) and rates (written).
    """
    (sums, values), (to_sums, to_values, to_rates) = sources, wanted
    spelled, direct = parts(plan, weights.reads)
    if to_sums is not None:
        plan.spelled.turned_times(spelled, gradient, to_sums)
    if to_values is not None:
        plan.direct.turned_times(direct, gradient, to_values)
    # gradient . source for every read, which the slope of its weight multiplies
    dots = torch.empty_like(weights.reads)
    if to_rates is not None:
        spelled_dots, direct_dots = parts(plan, dots)
        plan.spelled.dots(gradient, sums, spelled_dots)
        plan.direct.dots(gradient, values, direct_dots)
    for block in plan.rectangles:
        received = gradient.index_select(0, block.readers)
        if to_sums is not None:
            to_sums.index_add_(0, block.buckets, block.weights(weights.reads).T @ received)
        if to_rates is not None:
            source = sums.index_select(0, block.buckets)
            torch.mm(received, source.T, out=block.weights(dots))
    if to_rates is not None:
        weights.times_slopes(dots)
        to_rates.zero_().index_add_(0, plan.read_readers, dots)
