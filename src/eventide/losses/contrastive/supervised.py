"""Plain supervised contrast: messages of one class attract, all others repel."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.networks.geometry import unit_rows


def supervised_contrastive(embeddings: Tensor, labels: Tensor, temperature: float = 0.1) -> Tensor:
    """Equation `scl`, one value per message [B].

    -mean over positives j != i of log(exp(s_ij / t) / sum_{k != i} exp(s_ik / t)), s the cosine.
    A message without a positive in the batch has nothing to be pulled to: its value is 0.

    >>> supervised_contrastive(torch.eye(2), torch.tensor([0, 1])).tolist()
    [0.0, 0.0]
    """
    directions = unit_rows(embeddings)
    itself = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    scores = directions @ directions.T / temperature
    # The lowest finite number, not infinity: a batch of one must not turn into NaN.
    scores = scores.masked_fill(itself, torch.finfo(scores.dtype).min)
    log_share = scores - torch.logsumexp(scores, dim=1, keepdim=True)
    positive = (labels.unsqueeze(0) == labels.unsqueeze(1)) & ~itself
    missed = (-log_share).masked_fill(~positive, 0.0).sum(dim=1)
    return missed / positive.sum(dim=1).clamp(min=1)
