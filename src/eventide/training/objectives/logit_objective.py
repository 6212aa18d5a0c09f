"""Objectives of methods without evidence: class scores from the views' logits, and a softmax.

``BalancedClassifier`` is the last phase of decoupled methods: classifiers on a finished encoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from eventide.losses.agreement import view_agreement
from eventide.losses.reduction import mean
from eventide.networks.multi_view import fused_logits
from eventide.opinions.categorical import Categorical
from eventide.tensors import widen
from eventide.training.batches import class_aware_batches
from eventide.training.objectives.objective import Ints, Objective, Outputs


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


class LogitObjective(PlainObjective):
    """Cross-entropy on the fused logits plus lambda3 * L_Common.

    Others change ``classify``, or how its values become one number (``reduce``).
    """

    def classify(self, logits: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Return the classification loss of each message [B]."""
        return functional.cross_entropy(logits, labels, reduction="none")

    def reduce(self, values: Tensor, labels: Tensor, epoch: int) -> Tensor:
        """Turn one value per message into the term `error`: their mean."""
        return mean(values)

    def terms(self, outputs: Outputs, labels: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the classification loss of the batch."""
        values = self.classify(self.fused(outputs), labels, epoch)
        return {"error": self.reduce(values, labels, epoch)}

    def scores(self, outputs: Outputs) -> dict[str, Tensor]:
        """Return each view's logits [B, C]."""
        return {view: output.logits for view, output in outputs.items()}

    def fused(self, outputs: Outputs) -> Tensor:
        """Sum the logits, or average those of cosine classifiers [B, C]."""
        return combined_logits(outputs)


def combined_logits(outputs: Outputs) -> Tensor:
    """Sum the logits of linear classifiers, or average those of cosine classifiers [B, C].

    Cosines are bounded: their sum would sharpen the softmax with the number of views.
    """
    logits = widen(fused_logits(outputs))
    cosine = all(output.settings.classifier == "cosine" for output in outputs.values())
    return logits / len(outputs) if cosine else logits


class BalancedClassifier(LogitObjective):
    """Cross-entropy on the fused logits, with batches in which all classes come equally often.

    Meant for a phase that trains the classifier alone: a frozen encoder has nothing to agree on,
    so there is no L_Common. ``together`` messages of a class are drawn at a time.
    """

    def __init__(self, counts: Tensor, together: int = 4) -> None:
        super().__init__(counts, agreement_weight=0.0)
        self.together = together

    def batches(self, rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
        """Yield batches in which classes take turns."""
        return class_aware_batches(rows, labels, size, self.together, seed, epoch)
