"""BCL: logit-adjusted cross-entropy beside a contrast in which all classes weigh the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from eventide.losses.contrastive.supervised import balanced_contrastive
from eventide.methods.long_tail.logit_adjustment import LogitAdjusted
from eventide.methods.trained import MultiViewMethod
from eventide.networks.heads import Projector
from eventide.networks.multi_view import MultiViewNetwork
from eventide.settings import Settings
from eventide.training.objectives.objective import Objective, Outputs

TEMPERATURE = 0.07
CONTRAST_WEIGHT = 0.35


class BalancedObjective(LogitAdjusted):
    """Logit-adjusted cross-entropy + 0.35 * sum over views of the balanced contrastive loss."""

    def __init__(
        self, counts: Tensor, network: MultiViewNetwork, settings: Settings, seed: int
    ) -> None:
        super().__init__(counts, settings.loss.agreement_weight)
        generator = torch.Generator().manual_seed(seed)
        hidden, width = settings.network.head_hidden, network.encoder.width
        self.projectors = nn.ModuleList(
            Projector(hidden, hidden, width, generator=generator) for _ in network.views
        )
        # In a plain list, so that the network's own weights are not saved and trained twice.
        self.classifiers = [cast(nn.Linear, head.output) for head in network.heads]

    def terms(self, outputs: Outputs, labels: Tensor, epoch: int) -> dict[str, Tensor]:
        """Add the contrastive term to the classification loss."""
        values = self.contrast(outputs, labels)
        return super().terms(outputs, labels, epoch) | {"contrastive": values.mean()}

    def contrast(self, outputs: Outputs, labels: Tensor) -> Tensor:
        """Balanced contrast summed over the views, one value per message [B]."""
        per_view = [
            balanced_contrastive(output.embeddings, labels, centres, TEMPERATURE)
            for output, centres in zip(outputs.values(), self.centres(), strict=True)
        ]
        return torch.stack(per_view).sum(dim=0)

    def centres(self) -> list[Tensor]:
        """Class centres of each view [C, d]: a projection of its classifier's weights."""
        return [
            cast(Tensor, projector(classifier.weight))
            for projector, classifier in zip(self.projectors, self.classifiers, strict=True)
        ]

    def weights(self, epoch: int) -> Mapping[str, float]:
        """Return the weight of the contrastive term."""
        return {"contrastive": CONTRAST_WEIGHT}


class Bcl(MultiViewMethod):
    """Zhu et al., "Balanced contrastive learning for long-tailed visual recognition" (2022).

    [V] Cosine classifier of scale 30 with the log prior, contrast weighted 0.35 at temperature
    0.07, class centres by a one-hidden-layer MLP from the classifier's weights. [C] One embedding
    per message and view, the encoder's own, instead of two augmented images; one MLP per view.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "network.classifier": "cosine",
        "network.cosine_scale": 30.0,
    }

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the balanced objective, which reads the heads' class weights."""
        return BalancedObjective(counts, network, self.settings, self.seed)
