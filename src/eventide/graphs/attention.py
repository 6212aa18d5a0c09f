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


class Weights:
    """The softmax of each reader; ``reads`` holds c_ik * a_ik in the order of the plan."""

    def __init__(self, plan: Plan, rates: Tensor) -> None:
        self._plan, self._rates = plan, rates
        # integers first: rate * (distance - reference) has one rounding and is never negative
        self._reference = torch.where(rates < 0, plan.farthest, torch.zeros_like(plan.farthest))
        powers, self._count_distances = self._powers(plan.count_readers, plan.count_distances)
        self._counts = powers.mul_(plan.count_numbers)
        self._total = torch.segment_reduce(self._counts, "sum", offsets=plan.count_pointers)
        self.reads, self._distances = self._powers(plan.read_readers, plan.read_distances)
        self.reads /= self._total.index_select(0, plan.read_readers)
        parts(plan, self.reads)[1].mul_(plan.direct_coefficients)

    def _powers(self, readers: Tensor, distances: Tensor) -> tuple[Tensor, Tensor]:
        """exp(-rate * relative distance) and the relative distance."""
        relative = (distances - self._reference.index_select(0, readers)).to(self._rates.dtype)
        return self._rates.index_select(0, readers).mul_(relative).neg_().exp_(), relative

    def slopes(self) -> Tensor:
        """d reads / d rate = reads * (mean distance - distance): centred, so nothing cancels."""
        moments = self._counts * self._count_distances
        mean = torch.segment_reduce(moments, "sum", offsets=self._plan.count_pointers)
        mean /= self._total
        centred = mean.index_select(0, self._plan.read_readers).sub_(self._distances)
        return centred.mul_(self.reads)


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
        to_rates.zero_().index_add_(0, plan.read_readers, dots.mul_(weights.slopes()))
