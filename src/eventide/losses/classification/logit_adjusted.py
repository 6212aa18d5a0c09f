"""Logit adjustment: the classes' shares of the training messages are taken into account."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


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
