"""Logit adjustment: cross-entropy that knows how frequent each class is."""

from __future__ import annotations

from torch import Tensor

from eventide.losses.classification import logit_adjusted
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.objectives.logit_objective import LogitObjective
from eventide.training.objectives.objective import Objective

STRENGTH = 1.0
"""What multiplies the log prior; 1 is Fisher consistent for the balanced error."""


class LogitAdjusted(LogitObjective):
    """Cross-entropy of the fused logits plus the log of the classes' training shares."""

    def classify(self, logits: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Return the logit-adjusted cross-entropy of each message [B]."""
        return logit_adjusted(logits, labels, self.counts, STRENGTH)


class LogitAdjustment(MultiViewMethod):
    """Menon et al., "Long-tail learning via logit adjustment" (2021); not in our paper's table.

    [P] The prior is added while learning and left out when judging.
    """

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the logit-adjusted objective."""
        return LogitAdjusted(counts, self.settings.loss.agreement_weight)
