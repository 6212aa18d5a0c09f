"""What losses inside a batch share: similarities of everyone to everyone, and who is alike."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.networks.geometry import unit_rows
from eventide.networks.precision import widen


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
