"""LDAM: label-distribution-aware margins, wider for rarer classes."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


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
