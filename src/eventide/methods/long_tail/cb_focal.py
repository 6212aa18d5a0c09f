"""CB+Focal: class-balanced weights on a focal loss of yes-no questions."""

from __future__ import annotations

import math
from typing import cast

from torch import Tensor, nn

from eventide.corpus.corpus import Corpus
from eventide.losses.classification import sigmoid_focal
from eventide.losses.reduction import class_balanced_weights, weighted
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.objectives.logit_objective import LogitObjective
from eventide.training.objectives.objective import Objective

FOCUS = 1.0
"""The power g of (1 - p_t)."""


class FocalObjective(LogitObjective):
    """(1/B) sum_i w_{y_i} * focal_i on the fused logits."""

    def __init__(self, counts: Tensor, agreement_weight: float, base: float) -> None:
        super().__init__(counts, agreement_weight)
        self.base = base

    def classify(self, logits: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Return the focal loss of each message [B]."""
        return sigmoid_focal(logits, labels, FOCUS)

    def reduce(self, values: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Weigh each message by its class, and divide by the batch size."""
        return weighted(values, class_balanced_weights(self.counts, self.base)[labels])


class ClassBalancedFocal(MultiViewMethod):
    """Cui et al., "Class-balanced loss based on effective number of samples" (2019).

    [V] Sigmoid form, focus 1, base 0.9999 (``loss.class_balanced_base``), weights that sum to the
    number of classes. The last biases start where every class has the prior 1/C: the fused bias is
    -log(C - 1), shared out among the heads. [C] Probabilities are the softmax of the fused logits.
    """

    def make_network(self, corpus: Corpus, classes: int) -> MultiViewNetwork:
        """Return the frame's network, its last biases set to the prior of a yes."""
        network = super().make_network(corpus, classes)
        prior = -math.log(classes - 1) / len(network.views)
        for head in network.heads:
            output = cast(nn.Linear, head.output)
            # A cosine classifier, if one was asked for, has no bias.
            if output.bias is not None:
                nn.init.constant_(output.bias, prior)
        return network

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the weighted focal objective."""
        settings = self.settings.loss
        return FocalObjective(counts, settings.agreement_weight, settings.class_balanced_base)
