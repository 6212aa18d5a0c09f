"""The long-tail methods' losses again, in plain loops: slow, obvious, differentiable."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from oracles import cosine


def focal(logits: Tensor, labels: Sequence[int], focus: float) -> Tensor:
    """C yes-no questions per message, each with its focal weight."""
    values = []
    for i, y in enumerate(labels):
        value = torch.tensor(0.0, dtype=logits.dtype)
        for c in range(logits.shape[1]):
            yes = 1 / (1 + torch.exp(-logits[i, c]))
            right = yes if c == y else 1 - yes
            value = value - (1 - right) ** focus * torch.log(right)
        values.append(value)
    return torch.stack(values)


def cross_entropy(logits: Sequence[Tensor], y: int) -> Tensor:
    """Of one message."""
    return -torch.log(torch.exp(logits[y]) / sum(torch.exp(logit) for logit in logits))


def ldam(
    cosines: Tensor, labels: Sequence[int], counts: Sequence[int], largest: float, scale: float
) -> Tensor:
    """Margins from class sizes, then the cross-entropy of scale * (cosine - margin)."""
    rarest = min(counts)
    margins = [largest * (rarest / n) ** 0.25 for n in counts]
    values = []
    for i, y in enumerate(labels):
        logits = [
            scale * (cosines[i, c] - (margins[c] if c == y else 0.0))
            for c in range(cosines.shape[1])
        ]
        values.append(cross_entropy(logits, y))
    return torch.stack(values)


def logit_adjusted(
    logits: Tensor, labels: Sequence[int], counts: Sequence[int], strength: float
) -> Tensor:
    """The cross-entropy of logits + strength * log(share of the training messages)."""
    values = []
    for i, y in enumerate(labels):
        known = [c for c in range(logits.shape[1]) if counts[c] > 0]
        shifted = [logits[i, c] + strength * math.log(counts[c] / sum(counts)) for c in known]
        values.append(cross_entropy(shifted, known.index(y)))
    return torch.stack(values)


def balanced(z: Tensor, labels: Sequence[int], centres: Tensor, tau: float) -> Tensor:
    """BCL's contrast: the mean of each class's exponentials, the class's centre among them."""
    values = []
    for i, y in enumerate(labels):
        members: dict[int, list[Tensor]] = {c: [centres[c]] for c in range(len(centres))}
        for k, c in enumerate(labels):
            if k != i:
                members[c].append(z[k])
        below = sum(
            sum(torch.exp(cosine(z[i], key) / tau) for key in keys) / len(keys)
            for keys in members.values()
        )
        logs = [torch.log(torch.exp(cosine(z[i], key) / tau) / below) for key in members[y]]
        values.append(-sum(logs) / len(logs))
    return torch.stack(values)


def robust(z: Tensor, labels: Sequence[int], centroids: Tensor, radii: Tensor) -> Tensor:
    """DRO-LT: for each message the softmax over the batch around its own class's centroid."""
    values = []
    for b, c in enumerate(labels):
        radius = radii[c] if radii[c] > 0 else 0 * radii[c]
        scores = []
        for k, y in enumerate(labels):
            distance = torch.sqrt(((centroids[c] - z[k]) ** 2).sum())
            scores.append(-distance - (radius if y == c else 0 * radius))
        values.append(-torch.log(torch.exp(scores[b]) / sum(torch.exp(s) for s in scores)))
    return torch.stack(values)


def next_positives(labels: Sequence[int], i: int, count: int) -> list[int]:
    """Walk on from i, round the end, until ``count`` messages of its class were met."""
    found = []
    for step in range(1, len(labels)):
        j = (i + step) % len(labels)
        if labels[j] == labels[i] and len(found) < count:
            found.append(j)
    return found


def k_positive(z: Tensor, labels: Sequence[int], count: int, tau: float) -> Tensor:
    """Supervised contrast with the next ``count`` of the class."""
    values = []
    for i in range(len(labels)):
        keys = [k for k in range(len(labels)) if k != i]
        below = sum(torch.exp(cosine(z[i], z[k]) / tau) for k in keys)
        positives = next_positives(labels, i, count)
        logs = [torch.log(torch.exp(cosine(z[i], z[j]) / tau) / below) for j in positives]
        values.append(-sum(logs) / len(logs) if logs else (0 * z[i]).sum())
    return torch.stack(values)


def targeted(
    z: Tensor, labels: Sequence[int], targets: Tensor, count: int, tau: float, weight: float
) -> Tensor:
    """The same with all targets among the keys, and a pull to the own one."""
    values = []
    for i, y in enumerate(labels):
        keys = [z[k] for k in range(len(labels)) if k != i] + list(targets)
        below = sum(torch.exp(cosine(z[i], key) / tau) for key in keys)
        positives = next_positives(labels, i, count)
        logs = [torch.log(torch.exp(cosine(z[i], z[j]) / tau) / below) for j in positives]
        own = torch.log(torch.exp(cosine(z[i], targets[y]) / tau) / below)
        values.append(-(sum(logs) + weight * own) / (len(logs) + 1))
    return torch.stack(values)
