"""The prototype loss: pull a message to its class's prototype, push others away by a margin.

Prototypes are learned with the network, freely or on the unit sphere, or are the class centroids of
every epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.errors import BadSetting
from eventide.losses import PROTOTYPES
from eventide.losses.contrastive.margins import margins_of
from eventide.losses.loss_inputs import LossInputs, Outputs
from eventide.losses.settings import LossSettings
from eventide.networks.multi_view import ViewOutput
from eventide.runtime.share import current_share
from eventide.tensors import class_means, unit_rows


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

    def similarities(self, view: str, output: ViewOutput) -> Tensor:
        """Return the cosine of each embedding with every class's prototype [B, C]."""
        return cosines(output.embeddings, self.of(view))

    def refresh(self, embeddings: Mapping[str, Tensor], labels: Tensor) -> None:
        """Take over the training messages' embeddings [n, d] per view, where that is needed."""

    def project(self) -> None:
        """After a step: go back to where prototypes must be, where that is anywhere."""


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


class UnitPrototypes(LearnedPrototypes):
    """Hybrid-PSC: learned vectors that start on the unit sphere and return to it after every step.

    The direction is all that the loss reads; how far a step turns it depends on the length, which
    grows with every step of free vectors.
    """

    def __init__(
        self, views: Sequence[str], classes: int, width: int, *, generator: torch.Generator
    ) -> None:
        super().__init__(views, classes, width, generator=generator)
        self.project()

    @torch.no_grad()
    def project(self) -> None:
        """Scale every prototype to length 1."""
        for each in self.vectors:
            each.copy_(unit_rows(each))


class ClassifierPrototypes(Prototypes):
    """The vectors that decide: those of a classifier that compares embeddings with prototypes."""

    refreshed_every_epoch = False

    def __init__(
        self, views: Sequence[str], classes: int, width: int, *, generator: torch.Generator
    ) -> None:
        super().__init__(views)

    def similarities(self, view: str, output: ViewOutput) -> Tensor:
        """Return the cosines with the classifier's vectors [B, C]."""
        if output.prototypes is None:
            raise BadSetting(
                "loss.prototypes cannot be 'classifier': the classifier has no prototypes",
                next_step="add network.classifier=prototypes",
            )
        return cosines(output.embeddings, output.prototypes)


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

    Of several workers each gives its own messages, and gets the centroids of all.

    >>> centroids(torch.tensor([[1.0, 1.0], [5.0, -1.0]]), torch.tensor([1, 1]), 2).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    return unit_rows(class_means(embeddings, labels, classes, current_share()))


def prototype_loss(
    embeddings: Tensor,
    prototypes: Tensor,
    labels: Tensor,
    *,
    margins: Tensor | None = None,
    present: Tensor | None = None,
    temperature: float = 1.0,
) -> Tensor:
    """Return the ``boundary_loss`` of embeddings [B, d] and one prototype per class [C, d].

    >>> z, p = torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 3.0]])
    >>> prototype_loss(z, p, torch.tensor([0]), margins=torch.tensor([1.0, 0.0])).item()
    0.6931471824645996
    """
    similarity = cosines(embeddings, prototypes)
    return boundary_loss(
        similarity, labels, margins=margins, present=present, temperature=temperature
    )


def cosines(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    """Return the similarity of every embedding [B, d] with every prototype [C, d]; [B, C].

    It is 0 for a zero vector.
    """
    return unit_rows(embeddings) @ unit_rows(prototypes).T


def boundary_loss(
    similarity: Tensor,
    labels: Tensor,
    *,
    margins: Tensor | None = None,
    present: Tensor | None = None,
    temperature: float = 1.0,
) -> Tensor:
    """Equation `eq_ucl`; with margin 0 `psc_margin`, and with a temperature `psc`; one value each.

    log(1 + sum_{c != y} exp((margin_y + similarity_c - similarity_y) / temperature))

    which is the cross-entropy of the similarities [B, C] after the true one gave up its margin.
    ``margins`` [C]; classes that are not ``present`` [C] leave the sum.
    """
    own = functional.one_hot(labels, similarity.shape[1]).bool()
    if margins is not None:
        similarity = similarity - own * margins.to(similarity.dtype)
    if present is not None:
        similarity = similarity.masked_fill(~present & ~own, -torch.inf)
    return functional.cross_entropy(similarity / temperature, labels, reduction="none")


class PrototypeContrast(nn.Module):
    """Equation `eq_ucl` summed over the views, with the margins and prototypes of the settings.

    A module, because learned prototypes train with the network; ``seed`` decides their start.
    """

    prototypes: Prototypes

    def __init__(
        self, views: Sequence[str], classes: int, width: int, settings: LossSettings, seed: int
    ) -> None:
        super().__init__()
        self.settings = settings
        generator = torch.Generator().manual_seed(seed)
        self.prototypes = PROTOTYPES.load(settings.prototypes)(
            views, classes, width, generator=generator
        )

    @property
    def observes(self) -> bool:
        """Whether the prototypes follow the training messages from epoch to epoch."""
        return self.prototypes.refreshed_every_epoch

    def forward(self, inputs: LossInputs) -> Tensor:
        """Return the loss of each message [B]."""
        statistics = inputs.statistics
        margins = margins_of(self.settings.margin, statistics, self.settings.margin_scale)
        per_view = [
            boundary_loss(
                self.prototypes.similarities(view, output),
                inputs.labels,
                margins=margins,
                present=statistics.present,
                temperature=self.settings.temperature,
            )
            for view, output in inputs.outputs.items()
        ]
        return torch.stack(per_view).sum(dim=0)

    def project(self) -> None:
        """After a step: bring the prototypes back to where they must be."""
        self.prototypes.project()

    def observe(self, outputs: Outputs, labels: Tensor, epoch: int) -> None:
        """Refresh the prototypes from all training messages."""
        self.prototypes.refresh(
            {view: output.embeddings for view, output in outputs.items()}, labels
        )
