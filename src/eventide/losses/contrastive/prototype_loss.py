"""Pull each message to its class's prototype, and other prototypes away by a margin."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from eventide.networks.geometry import unit_rows


def prototype_loss(
    embeddings: Tensor,
    prototypes: Tensor,
    labels: Tensor,
    *,
    margins: Tensor | None = None,
    present: Tensor | None = None,
    temperature: float = 1.0,
) -> Tensor:
    """Equation `eq_ucl`; with margin 0 `psc_margin`, and with a temperature `psc`; one value each.

    log(1 + sum_{c != y} exp((margin_y + similarity_c - similarity_y) / temperature))

    which is the cross-entropy of the similarities after the true one gave up its margin.
    ``embeddings`` [B, d], ``prototypes`` [C, d], ``margins`` [C]; classes that are not ``present``
    [C] leave the sum. Similarity is the cosine, 0 for a zero vector.

    >>> z, p = torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 3.0]])
    >>> prototype_loss(z, p, torch.tensor([0]), margins=torch.tensor([1.0, 0.0])).item()
    0.6931471824645996
    """
    similarity = unit_rows(embeddings) @ unit_rows(prototypes).T
    own = functional.one_hot(labels, similarity.shape[1]).bool()
    if margins is not None:
        similarity = similarity - own * margins.to(similarity.dtype)
    if present is not None:
        similarity = similarity.masked_fill(~present & ~own, -torch.inf)
    return functional.cross_entropy(similarity / temperature, labels, reduction="none")
