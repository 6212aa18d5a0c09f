"""Contrast with at most k positives: large classes cannot pull harder than small ones."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.losses.contrastive.similarities import mean_over, same_class, scores_within


def next_of_class(labels: Tensor, count: int) -> Tensor:
    """Choose for each message the next ``count`` of its class in the batch, going round [B, B].

    Batches are shuffled, so this is a random choice without a random state of its own, in which
    every message is chosen equally often. A smaller class gives all it has.

    >>> next_of_class(torch.tensor([0, 0, 1, 0]), 1).nonzero().tolist()
    [[0, 1], [1, 3], [3, 0]]
    """
    alike = same_class(labels)
    earlier = alike.tril(-1).sum(dim=1)
    size = alike.sum(dim=1) + 1
    steps = (earlier.unsqueeze(0) - earlier.unsqueeze(1)) % size.unsqueeze(1)
    return alike & (steps <= count)


def k_positive_contrastive(
    embeddings: Tensor, labels: Tensor, positives: int = 6, temperature: float = 0.07
) -> Tensor:
    """Supervised contrast (`scl`) with at most k positives per message, one value each [B].

    -mean over chosen positives p of log(exp(s_ip / t) / sum_{k != i} exp(s_ik / t)), s the cosine;
    ``next_of_class`` chooses. A message without a positive in the batch has value 0.
    """
    scores = scores_within(embeddings, temperature)
    missed = torch.logsumexp(scores, dim=1, keepdim=True) - scores
    return mean_over(missed, next_of_class(labels, positives))


def targeted_contrastive(
    embeddings: Tensor,
    labels: Tensor,
    targets: Tensor,
    positives: int = 6,
    temperature: float = 0.07,
    target_weight: float = 0.2,
) -> Tensor:
    """Targeted contrast of TSC, one value per message [B].

    -(sum over chosen p of log(exp(s_ip / t) / Z) + w log(exp(s_i,target / t) / Z)) / (P + 1),

    with P chosen positives; ``targets`` [C, d] holds the target of each class, and those of all
    classes join the keys: Z = sum_{k != i} exp(s_ik / t) + sum_c exp(s_i,target c / t). So the own
    target is one more positive, of weight w: as in the released code (the paper divides by P alone,
    and not the target's term).
    """
    scores = scores_within(embeddings, temperature, targets)
    missed = torch.logsumexp(scores, dim=1, keepdim=True) - scores
    batch = len(labels)
    own_target = missed[:, batch:].gather(1, labels.unsqueeze(1)).squeeze(1)
    chosen = next_of_class(labels, positives)
    pulled = missed[:, :batch].masked_fill(~chosen, 0.0).sum(dim=1)
    return (pulled + target_weight * own_target) / (chosen.sum(dim=1) + 1)
