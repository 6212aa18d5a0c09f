"""Deep Graph Infomax: a message's vector should tell the real graph from a shuffled one."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def infomax_loss(real: Tensor, corrupted: Tensor, bilinear: Tensor) -> Tensor:
    """Cross-entropy of the scores z . B s, one value per vector [2n]: real ones 1, corrupted 0.

    s = sigmoid(mean of the ``real`` vectors) [d], ``bilinear`` is B [d, d], and ``corrupted``
    [n, d] are the vectors that the same network gives to shuffled features.

    >>> infomax_loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.eye(2)).tolist()
    [0.6931471824645996, 0.6931471824645996]
    """
    summary = torch.sigmoid(real.mean(dim=0))
    logits = torch.cat([real, corrupted]) @ (bilinear @ summary)
    truth = torch.cat([real.new_ones(len(real)), real.new_zeros(len(corrupted))])
    return functional.binary_cross_entropy_with_logits(logits, truth, reduction="none")
