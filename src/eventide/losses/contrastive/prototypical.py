"""The prototype loss: pull a message to its class's prototype, push others away by a margin.

Prototypes are learned with the network, or are the class centroids of every epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.registry import Registry
from eventide.tensors import unit_rows


class Prototypes(nn.Module):
    """One prototype per view and class, [C, d] for a view."""

    refreshed_every_epoch: bool
    """Whether ``refresh`` must be called at the start of every epoch."""

    def __init__(self, views: Sequence[str]) -> None:
        super().__init__()
        self.views = tuple(views)

    def of(self, view: str) -> Tensor:
        """Return the prototypes of one view [C, d]."""
        raise NotImplementedError

    def refresh(self, embeddings: Mapping[str, Tensor], labels: Tensor) -> None:
        """Take over the training messages' embeddings [n, d] per view, where that is needed."""


class LearnedPrototypes(Prototypes):
    """UCL: parameters that start as normal(0, 1) and change with every batch."""

    refreshed_every_epoch = False

    def __init__(
        self, views: Sequence[str], classes: int, width: int, *, generator: torch.Generator
    ) -> None:
        super().__init__(views)
        self.vectors = nn.ParameterList(
            torch.randn(classes, width, generator=generator) for _ in views
        )

    def of(self, view: str) -> Tensor:
        """Return the learned vectors of one view; their length is free, only direction counts."""
        return cast(Tensor, self.vectors[self.views.index(view)])


class EpochCentroids(Prototypes):
    """UCL-EC: class centroids of the training messages, fixed for an epoch, no gradient."""

    refreshed_every_epoch = True
    vectors: Tensor

    def __init__(
        self,
        views: Sequence[str],
        classes: int,
        width: int,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(views)
        self.register_buffer("vectors", torch.zeros(len(self.views), classes, width))

    def of(self, view: str) -> Tensor:
        """Return the centroids of one view; zero before the first ``refresh``."""
        return self.vectors[self.views.index(view)]

    @torch.no_grad()
    def refresh(self, embeddings: Mapping[str, Tensor], labels: Tensor) -> None:
        """Recompute all centroids from training messages, and from nothing else."""
        for index, view in enumerate(self.views):
            self.vectors[index] = centroids(embeddings[view], labels, self.vectors.shape[1])


def centroids(embeddings: Tensor, labels: Tensor, classes: int) -> Tensor:
    """L2-normalised mean of the raw embeddings of each class [C, d]; zero for an empty class.

    >>> centroids(torch.tensor([[1.0, 1.0], [5.0, -1.0]]), torch.tensor([1, 1]), 2).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    counts = torch.bincount(labels, minlength=classes).clamp(min=1).unsqueeze(1)
    totals = embeddings.new_zeros(classes, embeddings.shape[1]).index_add_(0, labels, embeddings)
    return unit_rows(totals / counts)


PROTOTYPES = Registry("prototype source")
PROTOTYPES.add("learned", f"{__name__}:LearnedPrototypes", "learned in every batch (UCL)")
PROTOTYPES.add("centroids", f"{__name__}:EpochCentroids", "centroids of every epoch (UCL-EC)")


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
