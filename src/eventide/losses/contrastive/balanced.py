"""Balanced contrast: every class weighs the same, however many messages of it are in the batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from eventide.losses.contrastive.similarities import mean_over, same_class, scores_within


def balanced_contrastive(
    embeddings: Tensor, labels: Tensor, centres: Tensor, temperature: float = 0.07
) -> Tensor:
    """Balanced contrastive loss of BCL, one value per message [B].

    -mean over positives p of log(exp(s_ip / t) / sum_c (1 / m_c) sum_{k in c, k != i} exp(s_ik/t)),

    s the cosine, m_c the members of class c other than the anchor i. Every class's centre
    (``centres`` [C, d]) is one member of it, so no class is missing from the sum and no message is
    without a positive; centres are no anchors.
    """
    classes = len(centres)
    scores = scores_within(embeddings, temperature, centres)
    own = functional.one_hot(labels, classes).bool()
    members = own.sum(dim=0) + 1 - own.int()
    sizes = members.to(scores.dtype).log()
    # Dividing by m_c inside the sum: the logarithm of each key's class size comes off its score.
    weighted = scores - torch.cat([sizes[:, labels], sizes], dim=1)
    missed = torch.logsumexp(weighted, dim=1, keepdim=True) - scores
    return mean_over(missed, torch.cat([same_class(labels), own], dim=1))
