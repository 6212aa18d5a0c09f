"""Margins by neighbourhood: a message whose neighbours are unlike its class's is believed less.

Song et al., "TAM: Topology-aware margin loss for class-imbalanced node classification" (ICML
2022). What is added to the logits of message i of class y for another class c:
alpha * log(min(1, (D_iy / M_yy) * (M_yc / D_ic))) - beta * (J(D_i, M_y)^2 + J(M_y, M_c)^2
- J(D_i, M_c)^2) / (2 J(M_y, M_c)^2), where D_i are the classes around i, M_c their mean over the
messages of class c, and J is the Jensen-Shannon divergence. Nothing is added for y itself.
"""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.tensors import class_means

SMALLEST = 1e-6
"""Shares and divergences below this count as this much."""
CONNECTIVITY, DISTRIBUTION = 2.5, 0.5
"""alpha and beta: how much each of the two margins counts."""
SHARPNESS, BY_SIZE = 1.2, 0.4
"""How sharp predictions of unlabelled messages are, and how much of it is by class size."""


def class_sharpness(counts: Tensor) -> Tensor:
    """Return what multiplies the logits of each class [C] before unlabelled messages are read.

    The largest class gets 1.2; rarer ones get less, so that their evidence counts for less.

    >>> class_sharpness(torch.tensor([3, 1])).tolist()
    [1.2, 0.96]
    """
    shares = BY_SIZE * counts.double() / counts.sum()
    return SHARPNESS * (1 + shares - shares.max())


def topology_margins(around: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Return what is added to the logits of training messages [n, C], in float64.

    ``around`` [n, C] holds the shares of the classes among each message's neighbours, itself
    included. Memory stays at [n, C].
    """
    shares = around.double()
    means = class_means(shares, labels, classes).clamp(min=SMALLEST)
    shares = shares.clamp(min=SMALLEST)
    own = labels.unsqueeze(1)
    mine = shares.gather(1, own) / means.diagonal()[labels].unsqueeze(1)
    unusual = (mine * means[labels] / shares).clamp(max=1).log()
    between = torch.stack([divergence(means, each) for each in means]).clamp(min=SMALLEST)
    apart = between[labels].square()
    towards = torch.stack([divergence(shares, each) for each in means], dim=1).square()
    inside = divergence(shares, means[labels]).square().unsqueeze(1)
    leaning = (inside + apart - towards) / (2 * apart)
    return (CONNECTIVITY * unusual - DISTRIBUTION * leaning).scatter(1, own, 0.0)


def divergence(one: Tensor, other: Tensor) -> Tensor:
    """Jensen-Shannon divergence of the last axis, in nats; all shares must be positive.

    >>> divergence(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 0.5])).item()
    0.0
    """
    middle = ((one + other) / 2).log()
    return (one * (one.log() - middle) + other * (other.log() - middle)).sum(dim=-1) / 2
