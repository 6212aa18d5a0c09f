"""TSC: classes are drawn to targets that lie as far from each other as the space allows."""

from __future__ import annotations

import torch
from torch import Tensor

from eventide.losses.contrastive.k_positive import (
    class_targets,
    k_positive_contrastive,
    matched,
    targeted_contrastive,
)
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.tensors import unit_rows, widen
from eventide.training.objectives.logit_objective import BalancedClassifier
from eventide.training.objectives.objective import Outputs
from eventide.training.objectives.representation_objective import (
    RepresentationObjective,
    class_means,
)
from eventide.training.phases import Phase, share

PHASES = (0.3, 0.3, 0.4)
"""Shares of the epochs: k-positive contrast, targeted contrast, classifier alone."""
POSITIVES = 6
TEMPERATURE = 0.07
TARGET_WEIGHT = 0.2
MOMENTUM = 0.9
"""How much of a class's moving centroid stays when a batch is seen."""
TOGETHER = 4
"""Messages of a class drawn at a time by the class-aware sampler."""


class DirectionObjective(RepresentationObjective):
    """What both contrastive phases share: messages are compared by direction alone."""

    def place(self, embeddings: Tensor) -> Tensor:
        """Return the directions of embeddings [n, d]."""
        return unit_rows(embeddings)


class KPositiveObjective(DirectionObjective):
    """Sum over views of the contrastive loss with 6 positives."""

    def represent(self, outputs: Outputs, labels: Tensor, epoch: int) -> Tensor:
        """Return the loss of each message [B], summed over the views."""
        per_view = [
            k_positive_contrastive(outputs[view].embeddings, labels, POSITIVES, TEMPERATURE)
            for view in self.views
        ]
        return torch.stack(per_view).sum(dim=0)


class TargetedObjective(DirectionObjective):
    """Sum over views of the targeted loss; in every step classes are matched to targets anew."""

    targets: Tensor
    """Unit vectors [C, d], the same for all views."""
    moving: Tensor
    """Directions of the classes by view [V, C, d], by moving average over the batches."""

    def __init__(
        self, counts: Tensor, agreement_weight: float, network: MultiViewNetwork, seed: int
    ) -> None:
        width = network.encoder.width
        super().__init__(counts, agreement_weight, network.views, width)
        generator = torch.Generator().manual_seed(seed)
        targets = class_targets(len(counts), width, generator=generator, temperature=TEMPERATURE)
        self.register_buffer("targets", targets.float())
        self.register_buffer("moving", torch.zeros_like(self.centroids))

    def observe(self, outputs: Outputs, labels: Tensor, epoch: int) -> None:
        """Recompute the centroids; before the first epoch the moving ones start there."""
        super().observe(outputs, labels, epoch)
        if epoch == 0:
            self.moving.copy_(unit_rows(self.centroids))

    def represent(self, outputs: Outputs, labels: Tensor, epoch: int) -> Tensor:
        """Move the centroids, match them, and return the loss of each message [B]."""
        per_view = []
        for moving, view in zip(self.moving, self.views, strict=True):
            embeddings = outputs[view].embeddings
            self._move(moving, self.place(widen(embeddings.detach())), labels)
            targets = self.targets[matched(moving, self.targets)]
            per_view.append(
                targeted_contrastive(
                    embeddings, labels, targets, POSITIVES, TEMPERATURE, TARGET_WEIGHT
                )
            )
        return torch.stack(per_view).sum(dim=0)

    def _move(self, moving: Tensor, directions: Tensor, labels: Tensor) -> None:
        """Move in place the centroids [C, d] of the classes that the batch holds."""
        present = torch.bincount(labels, minlength=len(moving)) > 0
        seen = unit_rows(class_means(directions, labels, len(moving)))
        moving[present] = unit_rows(MOMENTUM * moving + (1 - MOMENTUM) * seen)[present]


class Tsc(MultiViewMethod):
    """Li et al., "Targeted supervised contrastive learning for long-tailed recognition" (2022).

    [V] 30 % of the epochs k-positive contrast with 6 positives, 30 % targeted contrast (weight 0.2,
    temperature 0.07, centroids by moving average 0.9, Hungarian matching every step), 40 % linear
    classifiers on the frozen encoder with the class-aware sampler. [C] Keys are the batch's,
    instead of a queue, and no augmented copies; positives are the next of the class in the shuffled
    batch; targets are shared by the views and matched in each; the simplex is turned by the seed.
    """

    def make_phases(self, network: MultiViewNetwork, counts: Tensor) -> list[Phase]:
        """Contrast, contrast with targets, then classify."""
        training, agreement = self.settings.training, self.settings.loss.agreement_weight
        first, second, last = (share(training, part) for part in PHASES)
        contrast = KPositiveObjective(counts, agreement, network.views, network.encoder.width)
        targeted = TargetedObjective(counts, agreement, network, self.seed)
        return [
            Phase(contrast, first, trains="encoder"),
            Phase(targeted, second, trains="encoder"),
            Phase(BalancedClassifier(counts, TOGETHER), last, trains="classifier"),
        ]
