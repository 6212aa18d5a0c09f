"""DRO-LT: a robust representation between two rounds of cross-entropy."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from eventide.losses.contrastive.robust import robust_contrastive
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.reduction import mean_of_classes, weighted_mean
from eventide.losses.terms import RegisteredLoss, Term
from eventide.losses.total import agreement_term
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.batches import class_aware_batches
from eventide.training.objectives.objective import Objective
from eventide.training.objectives.output_readers import CentroidReader
from eventide.training.phases import Phase, share

PHASES = (0.4, 0.4, 0.2)
"""Shares of the epochs: cross-entropy, robust representation, classifier alone."""
FIRST_RADIUS = 1.0


class RobustContrast(nn.Module):
    """The robust loss summed over the views; the radius of each view and class is learned.

    Centroids are the reader's, those of the last epoch.
    """

    def __init__(self, reader: CentroidReader) -> None:
        super().__init__()
        views, classes, _ = reader.centroids.shape
        self.radii = nn.Parameter(torch.full((views, classes), FIRST_RADIUS))
        # In a tuple, so that the reader is not a part of the loss too.
        self._reader = (reader,)

    def forward(self, inputs: LossInputs) -> Tensor:
        """Return the loss of each message [B]."""
        per_view = [
            robust_contrastive(embeddings, inputs.labels, centroids, radii)
            for embeddings, centroids, radii in zip(
                inputs.embeddings, self._reader[0].centroids, self.radii, strict=True
            )
        ]
        return torch.stack(per_view).sum(dim=0)


def by_class_size(values: Tensor, inputs: LossInputs) -> Tensor:
    """Average by the weights n / max n of the classes."""
    counts = inputs.statistics.counts
    return weighted_mean(values, (counts / counts.max())[inputs.labels])


def by_class(values: Tensor, inputs: LossInputs) -> Tensor:
    """Average within each class of the batch, then over its classes."""
    return mean_of_classes(values, inputs.labels)


class DroLt(MultiViewMethod):
    """Samuel and Chechik, "Distributional robustness loss for long-tail learning" (2021).

    [V] 40 % of the epochs cross-entropy; 40 % cross-entropy with weights n / max n, averaged by
    those weights, plus the robust loss, averaged over the classes of the batch, with epoch
    centroids, radii learned from 1 and never below 0, and the classifier frozen; then the encoder
    with the best nearest-centroid accuracy is frozen and the classifier trained. Both late phases
    draw 4 messages of a class at a time. Radii are indexed by class, which the released code gets
    wrong in unsorted batches. [C] Radii per view; distances are not divided by a temperature.
    """

    balances_error: ClassVar[bool] = False

    def make_phases(self, network: MultiViewNetwork, counts: Tensor) -> list[Phase]:
        """Learn to classify, make the representation robust, then classify again."""
        first, second, last = (share(self.settings.training, part) for part in PHASES)
        reader = CentroidReader(network.views, len(counts), network.encoder.width)
        robust = {
            "error": Term(RegisteredLoss("cross-entropy"), reduction=by_class_size),
            "representation": Term(RobustContrast(reader), reduction=by_class),
            **agreement_term(self.settings.loss, network.views),
        }
        return [
            Phase(self.classifying(network, counts), first),
            Phase(Objective(counts, robust, reader, class_aware_batches), second, trains="encoder"),
            self.balanced_classifier(counts, last),
        ]
