"""Supervised contrast inside a batch, plain (SCL) and balanced over classes (BCL)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from eventide.tensors import unit_rows, widen


def scores_within(embeddings: Tensor, temperature: float, others: Tensor | None = None) -> Tensor:
    """Cosine / temperature of each message to the batch, then to ``others`` [B, B + len(others)].

    A message's score for itself is the lowest finite number: it leaves every sum of exponentials,
    and a batch of one message does not turn into NaN.

    >>> scores_within(torch.eye(2), 0.5, torch.tensor([[0.0, 2.0]]))[1, [0, 2]].tolist()
    [0.0, 2.0]
    """
    directions = unit_rows(widen(embeddings))
    keys = directions
    if others is not None:
        keys = torch.cat([directions, unit_rows(others.to(directions.dtype))])
    scores = directions @ keys.T / temperature
    itself = torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
    return scores.masked_fill(itself, torch.finfo(scores.dtype).min)


def same_class(labels: Tensor) -> Tensor:
    """Whether two different messages of a batch are of the same class [B, B].

    >>> same_class(torch.tensor([4, 2, 4])).int().tolist()
    [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    """
    alike = labels.unsqueeze(0) == labels.unsqueeze(1)
    return alike.fill_diagonal_(False)


def mean_over(values: Tensor, chosen: Tensor) -> Tensor:
    """Mean of the ``chosen`` values of each row [B]; 0 for a row without any.

    >>> mean_over(torch.tensor([[1.0, 3.0], [5.0, 5.0]]), torch.tensor([[1, 1], [0, 0]]).bool())
    tensor([2., 0.])
    """
    return values.masked_fill(~chosen, 0.0).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)


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
