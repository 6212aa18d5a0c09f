"""Where class prototypes come from: learned with the network, or centroids of every epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from eventide.networks.geometry import unit_rows
from eventide.registry import Registry


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
