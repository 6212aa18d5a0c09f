"""Rules that combine the views' opinions into one: Dempster's, in closed form, and the mean.

With g = log(1 + evidence / C), combining views by equation `eq_dst`, one after the other, is the
same as adding their g: 1 + e_c/C = product over views of (1 + e_c^v/C). Exact, order-free, O(C).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor

from eventide.errors import BadSetting
from eventide.opinions.opinion import Opinion


def fuse(opinions: Sequence[Opinion]) -> Opinion:
    """Combine the views' opinions into one; equations `eq_dst` and `dst_three_views`.

    >>> certain = Opinion.from_evidence(torch.tensor([[6.0, 0.0]]))
    >>> fuse([certain, certain]).evidence
    tensor([[30.0000,  0.0000]], dtype=torch.float64)
    """
    return Opinion(_growths(opinions).sum(dim=0))


def average(opinions: Sequence[Opinion]) -> Opinion:
    """Average the views' beliefs and uncertainties: firm views do not outbid each other.

    With b + u = exp(g) * u, the mean belief divided by the mean uncertainty stays a logarithm.

    >>> one = Opinion.from_evidence(torch.tensor([[2.0, 0.0]]))
    >>> average([one, Opinion.from_evidence(torch.zeros(1, 2))]).uncertainty
    tensor([0.7500], dtype=torch.float64)
    """
    growths = _growths(opinions)
    uncertainties = torch.stack([opinion.log_uncertainty for opinion in opinions]).unsqueeze(-1)
    together = torch.logsumexp(growths + uncertainties, dim=0)
    growth = (together - torch.logsumexp(uncertainties, dim=0)).clamp(min=0)
    # Rounding must not leave a trace of evidence where no view has any.
    return Opinion(torch.where((growths == 0).all(dim=0), 0.0, growth))


def _growths(opinions: Sequence[Opinion]) -> Tensor:
    if not opinions:
        raise BadSetting("there is no opinion to fuse", next_step="give at least one view")
    return torch.stack([opinion.log_growth for opinion in opinions])


def conflict(opinions: Sequence[Opinion], fused: Opinion | None = None) -> Tensor:
    """Mass T in [0, 1) that the views assign to contradictions [B].

    For two views it is T of equation `eq_dst`. For more it is one minus the product of the steps'
    1 - T, which no order of the views changes: 1 - T = product of the views' uncertainties / fused
    uncertainty.
    """
    fused = fused or fuse(opinions)
    agreement = torch.stack([opinion.log_uncertainty for opinion in opinions]).sum(dim=0)
    return (-torch.expm1(agreement - fused.log_uncertainty)).clamp(0, 1)


def pairwise_conflict(opinions: Sequence[Opinion]) -> dict[tuple[int, int], Tensor]:
    """T of equation `eq_dst` for every pair of views (by position, first < second), each [B]."""
    return {
        (first, second): conflict([opinions[first], opinions[second]])
        for first, second in combinations(range(len(opinions)), 2)
    }
