"""Hybrid-PSC: prototypical contrast first, cross-entropy more and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from eventide.losses.contrastive.prototypical import LearnedPrototypes, prototype_loss
from eventide.methods.trained import MultiViewMethod
from eventide.networks.heads import Projector
from eventide.networks.multi_view import MultiViewNetwork
from eventide.settings import Settings
from eventide.training.batches import class_balanced_batches, shuffled_batches
from eventide.training.objectives.logit_objective import LogitObjective
from eventide.training.objectives.objective import Ints, Objective, Outputs
from eventide.training.validation_scores import rows_of

TEMPERATURE = 0.1


def contrast_share(epoch: int, epochs: int) -> float:
    """a = 1 - (T / Tmax)^2, with the epoch T counted from 1.

    >>> contrast_share(50, 100), contrast_share(100, 100)
    (0.75, 0.0)
    """
    return 1 - (epoch / epochs) ** 2


class HybridObjective(LogitObjective):
    """a * sum over views of PSC + (1 - a) * cross-entropy, each on batches of its own kind.

    A batch of the loop is two of the same size: the first half is instance-balanced and for PSC,
    the second is class-balanced and for the cross-entropy.
    """

    def __init__(
        self, counts: Tensor, network: MultiViewNetwork, settings: Settings, seed: int
    ) -> None:
        super().__init__(counts, settings.loss.agreement_weight)
        self.epochs = settings.training.epochs
        generator = torch.Generator().manual_seed(seed)
        width, projected = network.encoder.width, settings.network.head_hidden
        self.projectors = nn.ModuleList(
            Projector(width, width, projected, generator=generator) for _ in network.views
        )
        self.prototypes = LearnedPrototypes(
            network.views, len(counts), projected, generator=generator
        )

    def batches(self, rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
        """Yield an instance-balanced and a class-balanced half, of ``size`` messages each."""
        halves = zip(
            shuffled_batches(rows, size, seed, epoch),
            class_balanced_batches(rows, labels, size, seed, epoch),
            strict=True,
        )
        for instances, balanced in halves:
            yield np.concatenate([instances, balanced[: len(instances)]])

    def terms(self, outputs: Outputs, labels: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return PSC of the first half and the cross-entropy of the second."""
        half = len(labels) // 2
        contrast, classify = slice(0, half), slice(half, None)
        terms = super().terms(rows_of(outputs, classify), labels[classify], epoch)
        values = self.contrast(rows_of(outputs, contrast), labels[contrast])
        return terms | {"contrastive": values.mean()}

    def contrast(self, outputs: Outputs, labels: Tensor) -> Tensor:
        """PSC of the projected embeddings, summed over the views, one value per message [B]."""
        per_view = [
            prototype_loss(
                cast(Tensor, projector(output.embeddings)),
                self.prototypes.of(view),
                labels,
                present=self.counts > 0,
                temperature=TEMPERATURE,
            )
            for projector, (view, output) in zip(self.projectors, outputs.items(), strict=True)
        ]
        return torch.stack(per_view).sum(dim=0)

    def weights(self, epoch: int) -> Mapping[str, float]:
        """Shift from contrast to classification as epochs pass."""
        share = contrast_share(epoch, self.epochs)
        return {"contrastive": share, "error": 1 - share}


class HybridPsc(MultiViewMethod):
    """Wang et al., "Contrastive learning based hybrid networks" (2021), the prototypical variant.

    [P] a = 1 - (T/Tmax)^2, a projector of one hidden layer, learned unit prototypes, temperature
    0.1, all classes in the denominator, a sampler for each branch. [C] One projector and one set of
    prototypes per view; the projector leads from the embedding's width to the head's hidden width;
    T counts from 1, so the last epoch is all classification; no early stop, because the balance
    shifts until the end.
    """

    defaults: ClassVar[Mapping[str, Any]] = {"training.patience": None}

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the hybrid objective with its schedule."""
        return HybridObjective(counts, network, self.settings, self.seed)
