"""Logit adjustment: cross-entropy that knows how frequent each class is."""

from __future__ import annotations

from torch import Tensor

from eventide.losses.terms import RegisteredLoss
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.objectives.objective import Objective


class LogitAdjustment(MultiViewMethod):
    """Menon et al., "Long-tail learning via logit adjustment" (2021); not in our paper's table.

    [P] The prior is added while learning and left out when predicting. [V] Its log
    counts once, which is Fisher consistent for the balanced error.
    """

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the logit-adjusted objective."""
        error = self.error_term(RegisteredLoss("logit-adjusted"))
        return self.classifying(network, counts, {"error": error})
