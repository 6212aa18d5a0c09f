"""What all objectives without evidence share: named terms, class scores, and a softmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from eventide.losses.view_agreement import view_agreement
from eventide.opinions.categorical import Categorical
from eventide.training.objective import Objective, Outputs


class PlainObjective(Objective):
    """Weighted terms plus lambda3 * L_Common; every view scores the classes, and scores add up."""

    def __init__(self, counts: Tensor, agreement_weight: float) -> None:
        super().__init__()
        self.register_buffer("counts", counts)
        self.agreement_weight = agreement_weight

    def terms(self, outputs: Outputs, labels: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the terms of the loss by name, each reduced to a scalar, before their weights."""
        raise NotImplementedError

    def weights(self, epoch: int) -> Mapping[str, float]:
        """Return the weights of terms that do not count fully in this epoch."""
        return {}

    def scores(self, outputs: Outputs) -> dict[str, Tensor]:
        """Return what each view says for each class [B, C]."""
        raise NotImplementedError

    def fused(self, outputs: Outputs) -> Tensor:
        """Return what the views together say for each class [B, C]: the sum of their scores."""
        return torch.stack(list(self.scores(outputs).values())).sum(dim=0)

    def loss(self, outputs: Outputs, labels: Tensor, epoch: int) -> tuple[Tensor, dict[str, float]]:
        """Return the scalar to minimise and each term by name, before its weight."""
        terms = self.terms(outputs, labels, epoch)
        weights = dict(self.weights(epoch))
        if self.agreement_weight > 0 and len(outputs) > 1:
            terms["agreement"] = view_agreement(
                [each.embeddings for each in outputs.values()]
            ).mean()
            weights["agreement"] = self.agreement_weight
        weighted = (weights.get(name, 1.0) * value for name, value in terms.items())
        total = cast(Tensor, sum(weighted))
        return total, {name: value.item() for name, value in (terms | {"total": total}).items()}

    def read_views(self, outputs: Outputs) -> dict[str, Categorical]:
        """Softmax of each view's scores."""
        return {view: Categorical(scores) for view, scores in self.scores(outputs).items()}

    def read(self, outputs: Outputs) -> Categorical:
        """Softmax of the fused scores."""
        return Categorical(self.fused(outputs))

    def conflict(self, outputs: Outputs) -> Tensor:
        """Zero: conflict is a notion of evidence."""
        first = next(iter(outputs.values()))
        return torch.zeros(len(first.embeddings), dtype=torch.float64)

    def error(self, outputs: Outputs, labels: Tensor) -> float:
        """Mean cross-entropy of the fused scores."""
        return float(functional.cross_entropy(self.fused(outputs), labels))
