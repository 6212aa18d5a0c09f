"""LDAM-DRW: margins by class size, and class weights that wait until the encoder is good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from eventide.losses.classification import ldam, ldam_margins
from eventide.losses.reduction import class_balanced_weights, mean, weighted_mean
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.settings import Settings
from eventide.training.objectives.logit_objective import LogitObjective
from eventide.training.objectives.objective import Objective

LARGEST_MARGIN = 0.5
DEFERRED = 0.8
"""The share of the epochs before class weights come in."""


def reweighs(epoch: int, epochs: int) -> bool:
    """Whether classes are weighted in this epoch, counted from 1.

    >>> reweighs(80, 100), reweighs(81, 100)
    (False, True)
    """
    return epoch > DEFERRED * epochs


class LdamObjective(LogitObjective):
    """Cross-entropy of scale * (cosine - m_y), weighted by class from 80 % of the epochs on."""

    def __init__(self, counts: Tensor, settings: Settings) -> None:
        super().__init__(counts, settings.loss.agreement_weight)
        self.base = settings.loss.class_balanced_base
        self.scale = settings.network.cosine_scale
        self.epochs = settings.training.epochs

    def classify(self, logits: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Return the loss of each message [B]; logits are scale * the mean cosine."""
        margins = ldam_margins(self.counts, LARGEST_MARGIN)
        return ldam(logits / self.scale, labels, margins, self.scale)

    def reduce(self, values: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Average, late in the run by the weights of the classes."""
        if not reweighs(epoch, self.epochs):
            return mean(values)
        return weighted_mean(values, class_balanced_weights(self.counts, self.base)[labels])


class LdamDrw(MultiViewMethod):
    """Cao et al., "Learning imbalanced datasets with label-distribution-aware margin loss" (2019).

    [V] Cosine classifier of scale 30, margins proportional to n^(-1/4) with 0.5 the largest, class
    weights (base 0.9999) after 80 % of the epochs, sum(w * l) / sum(w). [C] The heads' hidden
    values are what the cosine is taken of, and views fuse by the mean cosine; no early stop,
    because it would come before the weights do.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "network.classifier": "cosine",
        "network.cosine_scale": 30.0,
        "training.patience": None,
    }

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the LDAM objective with its schedule."""
        return LdamObjective(counts, self.settings)
