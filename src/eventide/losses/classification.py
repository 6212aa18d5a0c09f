"""Losses on logits, one value per message: focal, LDAM, logit adjustment."""

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


def ldam_margins(counts: Tensor, largest: float = 0.5) -> Tensor:
    """Return m_c proportional to n_c^(-1/4) [C], the rarest class having the ``largest`` margin.

    >>> import torch
    >>> ldam_margins(torch.tensor([1, 16])).tolist()
    [0.5, 0.25]
    """
    rarity = counts.double().clamp(min=1) ** -0.25
    return rarity * (largest / rarity.max())


def ldam(cosines: Tensor, labels: Tensor, margins: Tensor, scale: float = 30.0) -> Tensor:
    """Cross-entropy of scale * (cosine - margin of the true class), one value per message [B].

    ``cosines`` [B, C]; ``margins`` [C]. Only the true class gives up its margin.

    >>> import torch
    >>> ldam(torch.tensor([[0.5, 0.0]]), torch.tensor([0]), torch.tensor([0.5, 0.5])).item()
    0.6931471824645996
    """
    own = functional.one_hot(labels, cosines.shape[1])
    return functional.cross_entropy(
        scale * (cosines - own * margins.to(cosines.dtype)), labels, reduction="none"
    )


def logit_adjusted(logits: Tensor, labels: Tensor, counts: Tensor, strength: float = 1.0) -> Tensor:
    """Cross-entropy of logits + strength * log(prior), one value per message [B].

    prior_c = ``counts``_c / sum of counts; ``logits`` [B, C], ``counts`` [C] training messages per
    class. A class without training messages leaves the sum.

    >>> import torch
    >>> logit_adjusted(torch.zeros(1, 2), torch.tensor([0]), torch.tensor([1, 3])).exp().item()
    4.0
    """
    prior = (counts.double() / counts.sum()).log()
    return functional.cross_entropy(
        logits + strength * prior.to(logits.dtype), labels, reduction="none"
    )
