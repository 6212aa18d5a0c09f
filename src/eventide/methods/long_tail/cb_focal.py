"""CB+Focal: class-balanced weights on a focal loss of yes-no questions."""

from __future__ import annotations

import math
from typing import ClassVar, cast

from torch import Tensor, nn

from eventide.corpus.corpus import Corpus
from eventide.losses.reduction import ClassBalanced
from eventide.losses.terms import RegisteredLoss, Term
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.objectives.objective import Objective


class ClassBalancedFocal(MultiViewMethod):
    """Cui et al., "Class-balanced loss based on effective number of samples" (2019).

    [V] Sigmoid form, focus 1, base 0.9999 (``loss.class_balanced_base``), weights that sum to the
    number of classes. The last biases start where every class has the prior 1/C: the fused bias is
    -log(C - 1), shared out among the heads. [C] Probabilities are the softmax of the fused logits.
    """

    balances_error: ClassVar[bool] = False

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
        """Return the focal loss, each message weighted by its class: (1/B) sum_i w_{y_i} l_i."""
        balanced = ClassBalanced(self.settings.loss.class_balanced_base)
        error = Term(RegisteredLoss("focal"), reduction=balanced)
        return self.classifying(network, counts, {"error": error})
