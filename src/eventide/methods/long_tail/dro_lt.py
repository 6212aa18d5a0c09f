"""DRO-LT: a robust representation between two rounds of cross-entropy."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.losses.contrastive.robust import robust_contrastive
from eventide.losses.reduction import mean_of_classes, weighted_mean
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.batches import class_aware_batches
from eventide.training.objectives.logit_objective import (
    BalancedClassifier,
    LogitObjective,
    combined_logits,
)
from eventide.training.objectives.objective import Ints, Outputs
from eventide.training.objectives.representation_objective import RepresentationObjective
from eventide.training.phases import Phase, share

PHASES = (0.4, 0.4, 0.2)
"""Shares of the epochs: cross-entropy, robust representation, classifier alone."""
TOGETHER = 4
"""Messages of a class drawn at a time by the class-aware sampler."""
FIRST_RADIUS = 1.0


class RobustObjective(RepresentationObjective):
    """Weighted cross-entropy through frozen classifiers + sum over views of the robust loss.

    Centroids are those of the last epoch; the radius of each view and class is learned.
    """

    def __init__(self, counts: Tensor, agreement_weight: float, network: MultiViewNetwork) -> None:
        super().__init__(counts, agreement_weight, network.views, network.encoder.width)
        self.radii = nn.Parameter(torch.full((len(self.views), len(counts)), FIRST_RADIUS))

    def batches(self, rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
        """Yield batches in which classes take turns, a few messages at a time."""
        return class_aware_batches(rows, labels, size, TOGETHER, seed, epoch)

    def terms(self, outputs: Outputs, labels: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the weighted cross-entropy and the robust loss, each class counting the same."""
        errors = functional.cross_entropy(combined_logits(outputs), labels, reduction="none")
        return {
            "error": weighted_mean(errors, (self.counts / self.counts.max())[labels]),
            "representation": mean_of_classes(self.represent(outputs, labels, epoch), labels),
        }

    def represent(self, outputs: Outputs, labels: Tensor, epoch: int) -> Tensor:
        """Return the robust loss of each message [B], summed over the views."""
        per_view = [
            robust_contrastive(outputs[view].embeddings, labels, centroids, radii)
            for view, centroids, radii in zip(self.views, self.centroids, self.radii, strict=True)
        ]
        return torch.stack(per_view).sum(dim=0)


class DroLt(MultiViewMethod):
    """Samuel and Chechik, "Distributional robustness loss for long-tail learning" (2021).

    [V] 40 % of the epochs cross-entropy; 40 % cross-entropy with weights n / max n, averaged by
    those weights, plus the robust loss, averaged over the classes of the batch, with epoch
    centroids, radii learned from 1 and never below 0, and the classifier frozen; then the encoder
    with the best nearest-centroid accuracy is frozen and the classifier trained. Both late phases
    draw 4 messages of a class at a time. Radii are indexed by class, which the released code gets
    wrong in unsorted batches. [C] Radii per view; distances are not divided by a temperature.
    """

    def make_phases(self, network: MultiViewNetwork, counts: Tensor) -> list[Phase]:
        """Learn to classify, make the representation robust, then classify again."""
        training, agreement = self.settings.training, self.settings.loss.agreement_weight
        first, second, last = (share(training, part) for part in PHASES)
        return [
            Phase(LogitObjective(counts, agreement), first),
            Phase(RobustObjective(counts, agreement, network), second, trains="encoder"),
            Phase(BalancedClassifier(counts, TOGETHER), last, trains="classifier"),
        ]
