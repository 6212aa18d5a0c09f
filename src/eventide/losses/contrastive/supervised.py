"""Plain supervised contrast: messages of one class attract, all others repel."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.losses.contrastive.similarities import mean_over, same_class, scores_within


def supervised_contrastive(embeddings: Tensor, labels: Tensor, temperature: float = 0.1) -> Tensor:
    """Equation `scl`, one value per message [B].

    -mean over positives j != i of log(exp(s_ij / t) / sum_{k != i} exp(s_ik / t)), s the cosine.
    A message without a positive in the batch has nothing to be pulled to: its value is 0.

    >>> supervised_contrastive(torch.eye(2), torch.tensor([0, 1])).tolist()
    [0.0, 0.0]
    """
    scores = scores_within(embeddings, temperature)
    missed = torch.logsumexp(scores, dim=1, keepdim=True) - scores
    return mean_over(missed, same_class(labels))
