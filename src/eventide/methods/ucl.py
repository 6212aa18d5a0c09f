"""UCL and UCL-EC, the paper's two methods: they differ in where the prototypes come from.

Each also with +CB, the paper's class-balanced error, as a method of its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from eventide.losses.settings import ablation_changes
from eventide.losses.total import TotalLoss
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork
from eventide.training.objectives.objective import Objective, UncertaintyGuided


class Ucl(MultiViewMethod):
    """UCL: prototypes are learned and move with every batch."""

    defaults: ClassVar[Mapping[str, Any]] = {"loss.prototypes": "learned"}

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the total loss with the class statistics that guide its margins."""
        total = TotalLoss(
            views=network.views,
            classes=len(counts),
            width=network.encoder.width,
            settings=self.settings.loss,
            seed=self.seed,
        )
        return UncertaintyGuided(total, counts)


class UclEc(Ucl):
    """UCL-EC: prototypes are the training messages' class centroids, fixed for an epoch."""

    defaults: ClassVar[Mapping[str, Any]] = {"loss.prototypes": "centroids"}


class UclBalanced(Ucl):
    """UCL+CB: the error of rare classes is weighted up."""

    defaults: ClassVar[Mapping[str, Any]] = {**Ucl.defaults, **ablation_changes("ucl+cb")}


class UclEcBalanced(UclEc):
    """UCL-EC+CB: the error of rare classes is weighted up."""

    defaults: ClassVar[Mapping[str, Any]] = {**UclEc.defaults, **ablation_changes("ucl+cb")}
