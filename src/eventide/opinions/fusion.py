"""Rules that combine the views' opinions into one: Dempster's, in closed form, and others.

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


def cumulative(opinions: Sequence[Opinion]) -> Opinion:
    """Add up the views' evidence, as if all of it had come from one source.

    1 + e_c/C = 1 + sum over views of e_c^v/C: two views that agree are twice as sure, not more.

    >>> certain = Opinion.from_evidence(torch.tensor([[6.0, 0.0]]))
    >>> cumulative([certain, certain]).evidence
    tensor([[12.0000,  0.0000]], dtype=torch.float64)
    """
    growths = _growths(opinions)
    largest = growths.detach().amax(dim=0)
    # log(sum of exp(g) - (V - 1)); each exp(g) is at least 1, and so is the difference.
    others = (len(growths) - 1) * (-largest).exp()
    return Opinion((largest + ((growths - largest).exp().sum(dim=0) - others).log()).clamp(min=0))


def discounted(opinions: Sequence[Opinion]) -> Opinion:
    """Dempster's rule after each view was discounted by its conflict with the others.

    A view's reliability is 1 - its mean conflict with each other view; no gradient passes it. A
    view that contradicts the rest loses most of its say, a vacuous one stays neutral.

    >>> one = Opinion.from_evidence(torch.tensor([[9.0, 0.0]]))
    >>> other = Opinion.from_evidence(torch.tensor([[0.0, 9.0]]))
    >>> fuse([one, other]).uncertainty.item() < discounted([one, other]).uncertainty.item()
    True
    """
    if len(opinions) < 2:
        return fuse(opinions)
    conflicts = [torch.zeros_like(each.log_uncertainty.detach()) for each in opinions]
    for (first, second), mass in pairwise_conflict(opinions).items():
        for view in (first, second):
            conflicts[view] = conflicts[view] + mass.detach() / (len(opinions) - 1)
    return fuse([discount(each, 1 - mass) for each, mass in zip(opinions, conflicts, strict=True)])


def discount(opinion: Opinion, reliability: Tensor) -> Opinion:
    """Believe an opinion only as far as its source is reliable, r in [0, 1] (one, or [B]).

    belief' = r * belief, and all that is lost becomes uncertainty:
    1 + b'/u' = (1 - r + r * (u + b)) / (1 - r + r * u) with u + b = exp(g) * u.

    >>> sure = Opinion.from_evidence(torch.tensor([[8.0, 0.0]]))
    >>> discount(sure, torch.tensor(0.5)).belief
    tensor([[0.4000, 0.0000]], dtype=torch.float64)
    """
    kept = reliability.double().log().unsqueeze(-1)
    lost = torch.log1p(-reliability.double()).unsqueeze(-1)
    open_mass = opinion.log_uncertainty.unsqueeze(-1)
    claimed = torch.logaddexp(lost, kept + opinion.log_growth + open_mass)
    growth = (claimed - torch.logaddexp(lost, kept + open_mass)).clamp(min=0)
    # Rounding must not leave a trace of evidence where there was none.
    return Opinion(torch.where(opinion.log_growth == 0, 0.0, growth))


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
