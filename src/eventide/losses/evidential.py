"""The prediction error of an opinion: cross-entropy averaged over its Dirichlet distribution."""

from __future__ import annotations

from torch import Tensor

from eventide.opinions.opinion import Opinion
from eventide.opinions.special import digamma


def evidential_error(opinion: Opinion, labels: Tensor) -> Tensor:
    """Equation `eq_error`, one value per message [B]: digamma(strength) - digamma(alpha_y).

    >>> import torch
    >>> evidential_error(Opinion.from_evidence(torch.zeros(1, 2)), torch.tensor([0]))
    tensor([1.0000], dtype=torch.float64)
    """
    own = opinion.log_alpha.gather(1, labels.unsqueeze(1)).squeeze(1)
    return digamma(opinion.log_strength) - digamma(own)
