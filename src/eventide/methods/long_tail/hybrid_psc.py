"""Hybrid-PSC: prototypical contrast first, cross-entropy more and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from eventide.losses.classification import cross_entropy
from eventide.losses.contrastive.prototypical import UnitPrototypes, prototype_loss
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.terms import Term
from eventide.methods.trained import MultiViewMethod
from eventide.networks.heads import Projector
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.batches import class_balanced_batches, shuffled_batches
from eventide.training.objectives.objective import Ints, Objective

TEMPERATURE = 0.1


def contrast_share(epoch: int, epochs: int) -> float:
    """a = 1 - (T / Tmax)^2, with the epoch T counted from 1.

    >>> contrast_share(50, 100), contrast_share(100, 100)
    (0.75, 0.0)
    """
    return 1 - (epoch / epochs) ** 2


def hybrid_batches(rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
    """Yield an instance-balanced and a class-balanced half, of ``size`` messages each."""
    halves = zip(
        shuffled_batches(rows, labels, size, seed, epoch),
        class_balanced_batches(rows, labels, size, seed, epoch),
        strict=True,
    )
    for instances, balanced in halves:
        yield np.concatenate([instances, balanced[: len(instances)]])


class ProjectedContrast(nn.Module):
    """PSC of projected embeddings, summed over the views, on the instance-balanced first half."""

    def __init__(self, network: MultiViewNetwork, classes: int, projected: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        width = network.encoder.width
        self.projectors = nn.ModuleList(
            Projector(width, width, projected, generator=generator) for _ in network.views
        )
        self.prototypes = UnitPrototypes(network.views, classes, projected, generator=generator)

    def project(self) -> None:
        """After a step: bring the prototypes back onto the unit sphere."""
        self.prototypes.project()

    def forward(self, inputs: LossInputs) -> Tensor:
        """Return the loss of each message of the first half [B / 2]."""
        half = len(inputs.labels) // 2
        per_view = [
            prototype_loss(
                cast(Tensor, projector(output.embeddings[:half])),
                self.prototypes.of(view),
                inputs.labels[:half],
                present=inputs.statistics.present,
                temperature=TEMPERATURE,
            )
            for projector, (view, output) in zip(
                self.projectors, inputs.outputs.items(), strict=True
            )
        ]
        return torch.stack(per_view).sum(dim=0)


def error_share(epoch: int, epochs: int) -> float:
    """Return the weight of the cross-entropy: what the contrast leaves."""
    return 1 - contrast_share(epoch, epochs)


def balanced_half(inputs: LossInputs) -> Tensor:
    """Return the cross-entropy of each message of the class-balanced second half [B / 2]."""
    half = len(inputs.labels) // 2
    return cross_entropy(inputs.logits[half:], inputs.labels[half:])


class HybridPsc(MultiViewMethod):
    """Wang et al., "Contrastive learning based hybrid networks" (2021), the prototypical variant.

    [P] a = 1 - (T/Tmax)^2, a projector of one hidden layer, learned prototypes that start and stay
    on the unit sphere, temperature 0.1, all classes in the denominator, a sampler for each branch.
    [C] One projector and one set of prototypes per view; the projector leads from the embedding's
    width to the head's hidden width; T counts from 1, so the last epoch is all classification; no
    early stop, because the balance shifts until the end.
    """

    defaults: ClassVar[Mapping[str, Any]] = {"training.patience": None}
    balances_error: ClassVar[bool] = False

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return a * PSC + (1 - a) * cross-entropy, each on batches of its own kind."""
        settings = self.settings
        projected, epochs = settings.network.head_hidden, settings.training.epochs
        contrast = ProjectedContrast(network, len(counts), projected, self.seed)
        terms = {
            "error": Term(balanced_half, partial(error_share, epochs=epochs)),
            "contrastive": Term(contrast, partial(contrast_share, epochs=epochs)),
        }
        return self.classifying(network, counts, terms, hybrid_batches)
