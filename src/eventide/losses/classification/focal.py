"""Focal loss: messages that are already well classified count less."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def sigmoid_focal(logits: Tensor, labels: Tensor, focus: float = 1.0) -> Tensor:
    """Focal loss of C independent yes-no questions, one value per message [B].

    sum_c (1 - p_t)^focus * -log(p_t), where p_t = sigmoid(logit_c) for the true class and
    1 - sigmoid(logit_c) for the others. ``logits`` [B, C].

    >>> sigmoid_focal(torch.zeros(1, 2), torch.tensor([0])).item()
    0.6931471824645996
    """
    own = functional.one_hot(labels, logits.shape[1]).bool()
    towards_truth = torch.where(own, logits, -logits)
    # 1 - sigmoid(x) = sigmoid(-x), through its logarithm: it neither overflows nor cancels.
    easy = torch.exp(focus * functional.logsigmoid(-towards_truth))
    return (-easy * functional.logsigmoid(towards_truth)).sum(dim=1)
