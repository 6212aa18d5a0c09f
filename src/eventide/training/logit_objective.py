"""Objectives of methods without evidence: the views' logits are summed, never fused by Dempster."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from eventide.losses.view_agreement import view_agreement
from eventide.networks.multi_view import fused_logits
from eventide.opinions.categorical import Categorical
from eventide.training.objective import Objective, Outputs


class LogitObjective(Objective):
    """Cross-entropy on the fused logits plus lambda3 * L_Common; others change ``classify``."""

    def __init__(self, counts: Tensor, agreement_weight: float) -> None:
        super().__init__()
        self.register_buffer("counts", counts)
        self.agreement_weight = agreement_weight

    def classify(self, logits: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Return the classification loss of each message [B]."""
        return functional.cross_entropy(logits, labels, reduction="none")

    def loss(self, outputs: Outputs, labels: Tensor, epoch: int) -> tuple[Tensor, dict[str, float]]:
        """Return the scalar to minimise and the mean of each term by name."""
        means = {"error": self.classify(fused_logits(outputs), labels, epoch).mean()}
        total = means["error"]
        if self.agreement_weight > 0 and len(outputs) > 1:
            embeddings = [view.embeddings for view in outputs.values()]
            means["agreement"] = view_agreement(embeddings).mean()
            total = total + self.agreement_weight * means["agreement"]
        return total, {name: value.item() for name, value in (means | {"total": total}).items()}

    def read_views(self, outputs: Outputs) -> dict[str, Categorical]:
        """Softmax of each view's logits."""
        return {view: Categorical(output.logits) for view, output in outputs.items()}

    def read(self, outputs: Outputs) -> Categorical:
        """Softmax of the summed logits."""
        return Categorical(fused_logits(outputs))

    def conflict(self, outputs: Outputs) -> Tensor:
        """Zero: conflict is a notion of evidence."""
        return torch.zeros(len(fused_logits(outputs)), dtype=torch.float64)

    def error(self, outputs: Outputs, labels: Tensor) -> float:
        """Mean cross-entropy."""
        return float(functional.cross_entropy(fused_logits(outputs), labels))
