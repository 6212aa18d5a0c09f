"""Be certain when right and uncertain when wrong: terms on the fused opinion."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.opinions.opinion import Opinion
from eventide.opinions.special import divergence_from_uniform


def annealing(epoch: int, epochs: float = 25.0) -> float:
    """lambda_e = min(1, epoch / 25), epochs counted from 1: early evidence is not yet trusted.

    >>> annealing(5), annealing(30), annealing(1, epochs=0)
    (0.2, 1.0, 1.0)
    """
    return min(1.0, epoch / epochs) if epochs > 0 else 1.0


def misleading_divergence(opinion: Opinion, labels: Tensor) -> Tensor:
    """Divergence from "knows nothing" of the evidence for other classes than the true one [B].

    KL(Dirichlet(alpha~) to Dirichlet(1)), alpha~ = alpha with the true class set to 1.
    """
    misleading = opinion.log_alpha.scatter(1, labels.unsqueeze(1), 0.0)
    return divergence_from_uniform(misleading)


def uncertainty_calibration(opinion: Opinion, labels: Tensor) -> Tensor:
    """Equation `eq_euc` before annealing, one value per message [B].

    Right: -max(probability) * log(1 - uncertainty). Wrong: ``misleading_divergence``.
    A message without any evidence counts as wrong.
    """
    right = opinion.predicted == labels
    # Where the prediction is right, the largest probability is the true class's.
    largest = opinion.probability.gather(1, labels.unsqueeze(1)).squeeze(1)
    firm = -largest * opinion.log_certainty()
    wrong = (~right).nonzero().squeeze(1)
    # Gamma functions are the dear part: only for the messages that need them.
    false = misleading_divergence(Opinion(opinion.log_growth[wrong]), labels[wrong])
    return torch.where(right, firm, 0.0).index_put((wrong,), false)
