"""Objectives of methods without evidence: the heads' logits are fused, never by Dempster."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from eventide.losses.reduction import mean
from eventide.networks.multi_view import fused_logits
from eventide.networks.precision import widen
from eventide.training.objective import Outputs
from eventide.training.plain_objective import PlainObjective


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
