"""Several prototypes per class, the paper's stated future work: large, spread-out classes get more.

The similarity to a class is the soft maximum over its prototypes, each weighted by the share of the
class's training messages that it stands for. With one prototype it is the cosine itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from eventide.errors import BadSetting
from eventide.losses.contrastive.prototypical import (
    Prototypes,
    UnitPrototypes,
    centroids,
    cosines,
)
from eventide.networks.multi_view import ViewOutput
from eventide.runtime.share import current_share
from eventide.tensors import unit_rows

MOST = 4
"""Prototypes of a class at the most."""
SIZE = 40
"""A class of so many training messages gets a second prototype, of twice as many a third, ..."""
TIGHT = 0.95
"""A class whose messages have this mean cosine to their centroid needs one prototype."""
DRAWN = 500
"""Members of a class that its clusters are found among."""
SOFTNESS = 0.1
"""Temperature of the soft maximum."""


def prototype_number(members: int, mean_cosine: float) -> int:
    """Return how many prototypes a class gets, by size and spread.

    >>> [prototype_number(size, 0.5) for size in (10, 40, 80, 1_000)]
    [1, 2, 3, 4]
    >>> prototype_number(1_000, 0.97)
    1
    """
    if members < SIZE or mean_cosine >= TIGHT:
        return 1
    return min(MOST, 2 + (members // SIZE).bit_length() - 1)


def soft_maximum(cosines: Tensor, shares: Tensor) -> Tensor:
    """Return t * log(sum_k share_k * exp(cosine_k / t)) over the last axis [..., K].

    >>> soft_maximum(torch.tensor([0.5, 0.9]), torch.tensor([1.0, 0.0])).item()
    0.5
    """
    return SOFTNESS * torch.logsumexp(cosines / SOFTNESS + shares.log(), dim=-1)


class SeveralPrototypes(Prototypes):
    """What both kinds share: ``shares`` [V, C, K] say what each prototype stands for, 0 unused."""

    refreshed_every_epoch = True
    shares: Tensor

    def __init__(self, views: Sequence[str], classes: int) -> None:
        super().__init__(views)
        if current_share().size > 1:  # clusters are of all messages of a class, not of a share
            raise BadSetting(
                "several workers train with one prototype per class",
                next_step="set loss.prototypes=centroids, or train with one worker",
            )
        first = torch.zeros(len(self.views), classes, MOST)
        first[..., 0] = 1
        self.register_buffer("shares", first)

    def similarities(self, view: str, output: ViewOutput) -> Tensor:
        """Return the soft maximum over each class's prototypes [B, C]."""
        found = cosines(output.embeddings, self.of(view))
        shares = self.shares[self.views.index(view)].to(found.dtype)
        return soft_maximum(found.view(len(found), *shares.shape), shares)


class SeveralCentroids(SeveralPrototypes):
    """Centroids of clusters within each class, found anew every epoch; no gradient."""

    vectors: Tensor

    def __init__(
        self,
        views: Sequence[str],
        classes: int,
        width: int,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(views, classes)
        self.register_buffer("vectors", torch.zeros(len(self.views), classes * MOST, width))

    def of(self, view: str) -> Tensor:
        """Return the centroids of one view [C * K, d], class after class."""
        return self.vectors[self.views.index(view)]

    @torch.no_grad()
    def refresh(self, embeddings: Mapping[str, Tensor], labels: Tensor) -> None:
        """Cluster the training messages of each class, and nothing else."""
        for index, view in enumerate(self.views):
            for each in torch.unique(labels).tolist():
                found, shares = _clusters(embeddings[view][labels == each])
                self.vectors[index, each * MOST : (each + 1) * MOST] = found
                self.shares[index, each] = shares


class SeveralLearned(SeveralPrototypes):
    """Learned prototypes on the unit sphere; those that a class is too small for are not used."""

    def __init__(
        self, views: Sequence[str], classes: int, width: int, *, generator: torch.Generator
    ) -> None:
        super().__init__(views, classes)
        self.inner = UnitPrototypes(views, classes * MOST, width, generator=generator)

    def of(self, view: str) -> Tensor:
        """Return the vectors of one view [C * K, d], class after class."""
        return self.inner.of(view)

    def project(self) -> None:
        """Scale every prototype to length 1."""
        self.inner.project()

    @torch.no_grad()
    def refresh(self, embeddings: Mapping[str, Tensor], labels: Tensor) -> None:
        """Count for which of the training messages of its class each prototype is the nearest."""
        for index, view in enumerate(self.views):
            vectors = unit_rows(self.of(view)).view(*self.shares.shape[1:], -1)
            for each in torch.unique(labels).tolist():
                members = unit_rows(embeddings[view][labels == each])
                number = prototype_number(len(members), _mean_cosine(members))
                nearest = (members @ vectors[each, :number].T).argmax(dim=1)
                # One more each: an unused prototype can still be found.
                counts = nearest.bincount(minlength=number) + 1
                self.shares[index, each] = 0
                self.shares[index, each, :number] = counts / counts.sum()


def _mean_cosine(members: Tensor) -> float:
    return float((unit_rows(members) @ unit_rows(members.mean(dim=0, keepdim=True)).T).mean())


def _clusters(members: Tensor) -> tuple[Tensor, Tensor]:
    """Return unit centroids [K, d] of a class's clusters, and the share of each [K]."""
    rows = unit_rows(members)
    number = prototype_number(len(rows), _mean_cosine(rows))
    found = members.new_zeros(MOST, members.shape[1])
    shares = members.new_zeros(MOST)
    if number == 1:
        labels = torch.zeros(len(rows), dtype=torch.long)
        found[:1], shares[0] = centroids(members, labels, 1), 1
        return found, shares
    from sklearn.cluster import KMeans  # scikit-learn takes a while to import

    some = rows[:: max(1, len(rows) // DRAWN)].cpu().numpy()
    clusters = KMeans(number, n_init=1, max_iter=20, random_state=0).fit(some)
    found[:number] = unit_rows(torch.from_numpy(clusters.cluster_centers_).to(found))
    nearest = (rows @ found[:number].T).argmax(dim=1)
    shares[:number] = nearest.bincount(minlength=number) / len(rows)
    return found, shares
