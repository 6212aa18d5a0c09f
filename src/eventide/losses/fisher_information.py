"""The squared error of an opinion, weighted by the information in its evidence (I-EDL).

Deng et al., "Uncertainty estimation by Fisher information-based evidential deep learning" (ICML
2023). The Fisher information of Dirichlet(alpha) is diag(trigamma(alpha)) - trigamma(strength).
"""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.opinions.opinion import Opinion
from eventide.opinions.trigamma import log_trigamma, trigamma_excess


def information_error(opinion: Opinion, labels: Tensor) -> Tensor:
    """Squared error and variance, each class weighted by trigamma(alpha); one value per message.

    sum_c ((y_c - p_c)^2 + p_c (1 - p_c) / (strength + 1)) * trigamma(alpha_c), p = alpha / strength

    >>> information_error(Opinion.from_evidence(torch.zeros(1, 2)), torch.tensor([0]))
    tensor([1.0966], dtype=torch.float64)
    """
    probability = opinion.probability
    truth = torch.zeros_like(probability).scatter(1, labels.unsqueeze(1), 1.0)
    # 1 / (s + 1) = sigmoid(-log s): the strength itself may be too large for a number.
    spread = torch.sigmoid(-opinion.log_strength).unsqueeze(1)
    error = (truth - probability).square() + probability * (1 - probability) * spread
    return (error * log_trigamma(opinion.log_alpha).exp()).sum(dim=1)


def information(opinion: Opinion) -> Tensor:
    """Minus the log determinant of the Fisher information, one value per message [B].

    -(sum_c log trigamma(alpha_c) + log(1 - sum_c trigamma(strength) / trigamma(alpha_c))). With
    e = ``trigamma_excess`` and p = alpha / strength the last sum, which cancels to nothing for
    strong evidence, is 1 / strength * sum_c (e(alpha_c) - p_c e(strength)) / (1 + e(alpha_c) /
    alpha_c): no term of it is negative.

    >>> information(Opinion.from_evidence(torch.zeros(1, 2)))
    tensor([0.5378], dtype=torch.float64)
    """
    log_alpha, log_strength = opinion.log_alpha, opinion.log_strength
    excess = trigamma_excess(log_alpha)
    whole = trigamma_excess(log_strength).unsqueeze(1)
    left = (excess - opinion.probability * whole) / (1 + excess * (-log_alpha).exp())
    remainder = left.sum(dim=1).log() - log_strength
    return -(log_trigamma(log_alpha).sum(dim=1) + remainder)
