"""TSC: classes are drawn to targets that lie as far from each other as the space allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from eventide.losses.contrastive.k_positive import class_targets, matched, targeted_contrastive
from eventide.losses.loss_inputs import Loss, LossInputs, Outputs
from eventide.losses.terms import RegisteredLoss, Term
from eventide.losses.total import agreement_term
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.runtime.share import current_share
from eventide.tensors import class_means, unit_rows, widen
from eventide.training.objectives.objective import Objective
from eventide.training.objectives.output_readers import CentroidReader
from eventide.training.phases import Phase, share

PHASES = (0.3, 0.3, 0.4)
"""Shares of the epochs: k-positive contrast, targeted contrast, classifier alone."""
POSITIVES = 6
TEMPERATURE = 0.07
TARGET_WEIGHT = 0.2
MOMENTUM = 0.9
"""How much of a class's moving centroid stays when a batch is seen."""


class TargetedContrast(nn.Module):
    """The targeted loss summed over the views; every step matches classes to targets anew."""

    observes = True
    targets: Tensor
    """Unit vectors [C, d], the same for all views."""
    moving: Tensor
    """Directions of the classes by view [V, C, d], by moving average over the batches."""

    def __init__(self, views: Sequence[str], classes: int, width: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        targets = class_targets(classes, width, generator=generator, temperature=TEMPERATURE)
        self.register_buffer("targets", targets.float())
        self.register_buffer("moving", torch.zeros(len(views), classes, width))

    def observe(self, outputs: Outputs, labels: Tensor, epoch: int) -> None:
        """Start the moving directions at the class centroids, before the first epoch."""
        if epoch > 0:
            return
        for moving, output in zip(self.moving, outputs.values(), strict=True):
            directions = unit_rows(widen(output.embeddings))
            means = class_means(directions, labels, len(moving), current_share())
            moving.copy_(unit_rows(means))

    def forward(self, inputs: LossInputs) -> Tensor:
        """Move the directions, match them, and return the loss of each message [B]."""
        per_view = []
        for moving, embeddings in zip(self.moving, inputs.embeddings, strict=True):
            self._move(moving, unit_rows(widen(embeddings.detach())), inputs.labels)
            targets = self.targets[matched(moving, self.targets)]
            per_view.append(
                targeted_contrastive(
                    embeddings, inputs.labels, targets, POSITIVES, TEMPERATURE, TARGET_WEIGHT
                )
            )
        return torch.stack(per_view).sum(dim=0)

    def _move(self, moving: Tensor, directions: Tensor, labels: Tensor) -> None:
        """Move in place the directions [C, d] of the classes that the batch holds."""
        present = torch.bincount(labels, minlength=len(moving)) > 0
        seen = unit_rows(class_means(directions, labels, len(moving)))
        moving[present] = unit_rows(MOMENTUM * moving + (1 - MOMENTUM) * seen)[present]


class Tsc(MultiViewMethod):
    """Li et al., "Targeted supervised contrastive learning for long-tailed recognition" (2022).

    [V] 30 % of the epochs k-positive contrast with 6 positives, 30 % targeted contrast (weight 0.2,
    temperature 0.07, centroids by moving average 0.9, Hungarian matching every step), 40 % linear
    classifiers on the frozen encoder with the class-aware sampler. [C] Keys are the batch's,
    instead of a queue, and no augmented copies; positives are the next of the class in the shuffled
    batch; targets are shared by the views and matched in each; the simplex is rotated by the seed.
    """

    balances_error: ClassVar[bool] = False

    def make_phases(self, network: MultiViewNetwork, counts: Tensor) -> list[Phase]:
        """Contrast, contrast with targets, then classify."""
        first, second, last = (share(self.settings.training, part) for part in PHASES)
        views, classes, width = network.views, len(counts), network.encoder.width
        contrast = RegisteredLoss("k-positive", positives=POSITIVES, temperature=TEMPERATURE)
        targeted = TargetedContrast(views, classes, width, self.seed)

        def contrasting(loss: Loss) -> Objective:
            terms = {"representation": Term(loss), **agreement_term(self.settings.loss, views)}
            return Objective(counts, terms, CentroidReader(views, classes, width, unit_rows))

        return [
            Phase(contrasting(contrast), first, trains="encoder"),
            Phase(contrasting(targeted), second, trains="encoder"),
            self.balanced_classifier(counts, last),
        ]
