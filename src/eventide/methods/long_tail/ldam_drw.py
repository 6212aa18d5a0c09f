"""LDAM and LDAM-DRW: margins by class size, the latter with weights that wait for the encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from eventide.losses.loss_inputs import LossInputs
from eventide.losses.reduction import batch_mean, class_balanced_weights, weighted_mean
from eventide.losses.terms import RegisteredLoss, Term
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.settings import Settings
from eventide.training.objectives.objective import Objective

DEFERRED = 0.8
"""The share of the epochs before class weights come in."""


def reweighs(epoch: int, epochs: int) -> bool:
    """Whether classes are weighted in this epoch, counted from 1.

    >>> reweighs(80, 100), reweighs(81, 100)
    (False, True)
    """
    return epoch > DEFERRED * epochs


@dataclass(frozen=True)
class DeferredWeights:
    """The mean of the batch, weighted by class from 80 % of the epochs on."""

    epochs: int
    base: float

    def __call__(self, values: Tensor, inputs: LossInputs) -> Tensor:
        """Reduce one value per message to one number."""
        if not reweighs(inputs.epoch, self.epochs):
            return batch_mean(values, inputs)
        weights = class_balanced_weights(inputs.statistics.counts, self.base)
        return weighted_mean(values, weights[inputs.labels])


class Ldam(MultiViewMethod):
    """Cao et al., "Learning imbalanced datasets with label-distribution-aware margin loss" (2019).

    [V] Cosine classifier of scale 30, margins proportional to n^(-1/4) with 0.5 the largest. [C]
    The heads' hidden values are what the cosine is taken of, and views fuse by the mean cosine.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "network.classifier": "cosine",
        "network.cosine_scale": 30.0,
    }

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the LDAM loss, all epochs alike."""
        error = self.error_term(margin_loss(self.settings))
        return self.classifying(network, counts, {"error": error})


def margin_loss(settings: Settings) -> RegisteredLoss:
    """Return the loss, one value per message."""
    return RegisteredLoss("ldam", scale=settings.network.cosine_scale)


class LdamDrw(MultiViewMethod):
    """The same with deferred re-weighting.

    [V] Class weights (base 0.9999) after 80 % of the epochs, sum(w * l) / sum(w). [C] No early
    stop, because it would come before the weights do.
    """

    defaults: ClassVar[Mapping[str, Any]] = {**Ldam.defaults, "training.patience": None}
    balances_error: ClassVar[bool] = False

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the LDAM loss, weighted by class from 80 % of the epochs on."""
        settings = self.settings
        deferred = DeferredWeights(settings.training.epochs, settings.loss.class_balanced_base)
        error = Term(margin_loss(settings), reduction=deferred)
        return self.classifying(network, counts, {"error": error})
