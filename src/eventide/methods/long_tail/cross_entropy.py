"""CE: the multi-view frame trained with plain cross-entropy, the baseline of every comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from eventide.methods.trained import MultiViewMethod
from eventide.methods.ucl import BALANCED
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.objectives.objective import Objective


class CrossEntropy(MultiViewMethod):
    """Cross-entropy on the sum of the heads' outputs, plus lambda3 * L_Common."""

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the cross-entropy objective."""
        return self.classifying(network, counts)


class CrossEntropyBalanced(MultiViewMethod):
    """CE+CB: the cross-entropy of rare classes is weighted up."""

    defaults: ClassVar[Mapping[str, Any]] = BALANCED

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the same objective; the settings weigh it."""
        return self.classifying(network, counts)
