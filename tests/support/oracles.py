"""The paper's equations again, number by number in plain loops: slow, obvious, differentiable."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

Masses = tuple[list[Tensor], Tensor]


def assert_same(fast: Tensor, naive: Tensor, inputs: Sequence[Tensor] = ()) -> None:
    """Values and, for ``inputs``, gradients of an uneven weighting agree to 1e-9."""
    torch.testing.assert_close(fast, naive, rtol=1e-9, atol=1e-9)
    if inputs:
        weights = torch.linspace(0.5, 2.0, fast.numel(), dtype=torch.float64).reshape(fast.shape)
        ours = torch.autograd.grad((weights * fast).sum(), inputs, retain_graph=True)
        theirs = torch.autograd.grad((weights * naive).sum(), inputs, retain_graph=True)
        for our, their in zip(ours, theirs, strict=True):
            torch.testing.assert_close(our, their, rtol=1e-9, atol=1e-9)


def random(*shape: int, seed: int, scale: float = 1.0) -> Tensor:
    """A float64 tensor of normal numbers that takes part in gradients."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(*shape, dtype=torch.float64, generator=generator) * scale
    return values.requires_grad_()


def neighbours(sets: Sequence[Sequence[str]], i: int) -> list[int]:
    """Messages that share an element with i, each once, and i itself."""
    return [j for j in range(len(sets)) if j == i or set(sets[i]) & set(sets[j])]


def attention(rate: Tensor, times: Sequence[int], i: int, around: Sequence[int]) -> list[Tensor]:
    """a_ij for the neighbours ``around`` of i."""
    scores = [torch.exp(-rate * abs(times[j] - times[i])) for j in around]
    total = sum(scores)
    return [score / total for score in scores]


def temporal_layer(
    states: Tensor,
    weight: Tensor,
    rate: Tensor,
    sets: Sequence[Sequence[str]],
    times: Sequence[int],
) -> Tensor:
    """eq_temGnn before its activation."""
    z = [weight @ state for state in states]
    rows = []
    for i in range(len(states)):
        around = neighbours(sets, i)
        weights = attention(rate @ z[i], times, i, around)
        rows.append(sum(a * z[j] for a, j in zip(weights, around, strict=True)))
    return torch.stack(rows)


def opinion(evidence: Tensor) -> Masses:
    """equ_edl for one message: beliefs and uncertainty."""
    classes = len(evidence)
    strength = sum(e + 1 for e in evidence)
    return [e / strength for e in evidence], classes / strength


def dempster_pair(one: Masses, other: Masses) -> tuple[Masses, Tensor]:
    """eq_dst for one message: the combined masses and the conflict T."""
    (b1, u1), (b2, u2) = one, other
    conflict = sum(
        (b1[j] * b2[k] for j in range(len(b1)) for k in range(len(b2)) if j != k), torch.tensor(0.0)
    )
    scale = 1 / (1 - conflict)
    belief = [scale * (b1[c] * b2[c] + b1[c] * u2 + b2[c] * u1) for c in range(len(b1))]
    return (belief, scale * u1 * u2), conflict


def cosine(one: Tensor, other: Tensor) -> Tensor:
    """S of the contrastive losses; 0 for a zero vector."""
    lengths = torch.sqrt((one**2).sum()) * torch.sqrt((other**2).sum())
    return (one * other).sum() / lengths if lengths > 0 else torch.tensor(0.0, dtype=one.dtype)


def scl(z: Tensor, labels: Sequence[int], tau: float) -> Tensor:
    """Supervised contrastive loss; 0 for a message without positives."""
    values = []
    for i in range(len(z)):
        positives = [j for j in range(len(z)) if j != i and labels[j] == labels[i]]
        below = sum(torch.exp(cosine(z[i], z[k]) / tau) for k in range(len(z)) if k != i)
        logs = [torch.log(torch.exp(cosine(z[i], z[j]) / tau) / below) for j in positives]
        values.append(-sum(logs) / len(positives) if positives else (0 * z[i]).sum())
    return torch.stack(values)


def psc(z: Tensor, prototypes: Tensor, labels: Sequence[int], tau: float) -> Tensor:
    """Prototypical supervised contrastive loss, as first printed."""
    values = []
    for i, y in enumerate(labels):
        scores = [torch.exp(cosine(z[i], p) / tau) for p in prototypes]
        values.append(-torch.log(scores[y] / sum(scores)))
    return torch.stack(values)


def ucl(
    z: Tensor,
    prototypes: Tensor,
    labels: Sequence[int],
    margins: Sequence[float],
    absent: Sequence[int] = (),
    tau: float = 1.0,
) -> Tensor:
    """eq_ucl with any margin per class."""
    values = []
    for i, y in enumerate(labels):
        own = cosine(z[i], prototypes[y])
        inside = torch.tensor(1.0, dtype=z.dtype)
        for c in range(len(prototypes)):
            if c != y and c not in absent:
                inside = inside + torch.exp((margins[y] + cosine(z[i], prototypes[c]) - own) / tau)
        values.append(torch.log(inside))
    return torch.stack(values)


def divergence(alpha: Sequence[Tensor]) -> Tensor:
    """KL of Dirichlet(alpha) from Dirichlet(1), the textbook formula."""
    strength = sum(alpha)
    value = torch.lgamma(strength) - math.lgamma(len(alpha))
    for a in alpha:
        value = value - torch.lgamma(a) + (a - 1) * (torch.digamma(a) - torch.digamma(strength))
    return value


def euc(evidence: Tensor, labels: Sequence[int], ramp: float) -> Tensor:
    """eq_euc, one value per message."""
    values = []
    for i, y in enumerate(labels):
        alpha = [e + 1 for e in evidence[i]]
        strength = sum(alpha)
        best = max(range(len(alpha)), key=lambda c: alpha[c].item())
        total = sum(evidence[i])
        if best == y and total > 0:
            certainty = torch.log(total + 1e-6) - torch.log(len(alpha) + total)
            values.append(ramp * -(alpha[best] / strength) * certainty)
        else:
            one = torch.tensor(1.0, dtype=evidence.dtype)
            values.append(ramp * divergence([one if c == y else a for c, a in enumerate(alpha)]))
    return torch.stack(values)


def common(views: Sequence[Tensor]) -> Tensor:
    """eq_common divided by B^2."""
    batch = len(views[0])
    total = torch.tensor(0.0, dtype=torch.float64)
    for u in range(len(views)):
        for v in range(u + 1, len(views)):
            for i in range(batch):
                for j in range(batch):
                    one = cosine(views[u][i], views[u][j])
                    total = total + (one - cosine(views[v][i], views[v][j])) ** 2
    return total / batch**2


def error(evidence: Tensor, labels: Sequence[int]) -> Tensor:
    """eq_error after integration, one value per message."""
    return torch.stack(
        [
            torch.digamma(sum(e + 1 for e in evidence[i])) - torch.digamma(evidence[i][y] + 1)
            for i, y in enumerate(labels)
        ]
    )
