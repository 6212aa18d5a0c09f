"""Losses on logits, one value per message: cross-entropy, focal, LDAM, logit adjustment."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-log softmax of the true class, one value per message [B].

    >>> cross_entropy(torch.zeros(1, 2), torch.tensor([0])).item()
    0.6931471824645996
    """
    return functional.cross_entropy(logits, labels, reduction="none")


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


def ldam_margins(counts: Tensor, largest: float = 0.5) -> Tensor:
    """Return m_c proportional to n_c^(-1/4) [C], the rarest class having the ``largest`` margin.

    >>> import torch
    >>> ldam_margins(torch.tensor([1, 16])).tolist()
    [0.5, 0.25]
    """
    rarity = counts.double().clamp(min=1) ** -0.25
    return rarity * (largest / rarity.max())


def ldam(
    logits: Tensor, labels: Tensor, counts: Tensor, scale: float = 30.0, largest: float = 0.5
) -> Tensor:
    """Cross-entropy of scale * (cosine - margin of the true class), one value per message [B].

    ``logits`` [B, C] are scale * cosine; ``ldam_margins`` makes the margins of ``counts`` [C]. Only
    the true class gives up its margin.

    >>> import torch
    >>> ldam(torch.tensor([[15.0, 0.0]]), torch.tensor([0]), torch.tensor([1, 1])).item()
    0.6931471824645996
    """
    own = functional.one_hot(labels, logits.shape[1])
    margins = ldam_margins(counts, largest).to(logits.dtype)
    return cross_entropy(scale * (logits / scale - own * margins), labels)


def logit_adjusted(logits: Tensor, labels: Tensor, counts: Tensor, strength: float = 1.0) -> Tensor:
    """Cross-entropy of logits + strength * log(prior), one value per message [B].

    prior_c = ``counts``_c / sum of counts; ``logits`` [B, C], ``counts`` [C] training messages per
    class. A class without training messages leaves the sum.

    >>> import torch
    >>> logit_adjusted(torch.zeros(1, 2), torch.tensor([0]), torch.tensor([1, 3])).exp().item()
    4.0
    """
    prior = (counts.double() / counts.sum()).log()
    return cross_entropy(logits + strength * prior.to(logits.dtype), labels)
