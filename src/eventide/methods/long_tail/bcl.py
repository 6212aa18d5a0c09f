"""BCL: logit-adjusted cross-entropy beside a contrast in which all classes weigh the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from eventide.losses.contrastive.supervised import balanced_contrastive
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.terms import RegisteredLoss, Term
from eventide.methods.trained import MultiViewMethod
from eventide.networks.heads import Projector
from eventide.networks.multi_view import MultiViewNetwork
from eventide.runtime.share import current_share
from eventide.training.objectives.objective import Objective

TEMPERATURE = 0.07
CONTRAST_WEIGHT = 0.35


class BalancedContrast(nn.Module):
    """The balanced contrastive loss summed over the views, of projected messages and centres.

    ``projectors`` make a view's class centres of its classifier's weights.
    """

    def __init__(self, network: MultiViewNetwork, hidden: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        width = network.encoder.width
        self.projectors = nn.ModuleList(
            Projector(hidden, hidden, width, generator=generator) for _ in network.views
        )
        self.message_projectors = nn.ModuleList(
            Projector(width, width, width, generator=generator) for _ in network.views
        )
        # In a plain list, so that the network's own weights are not saved and trained twice.
        self.classifiers = [cast(nn.Linear, head.output) for head in network.heads]

    def forward(self, inputs: LossInputs) -> Tensor:
        """Return the loss of each message [B]."""
        per_view = [
            balanced_contrastive(
                cast(Tensor, projector(embeddings)), inputs.labels, centres, TEMPERATURE
            )
            for projector, embeddings, centres in zip(
                self.message_projectors, inputs.embeddings, self.centres(), strict=True
            )
        ]
        return torch.stack(per_view).sum(dim=0)

    def centres(self) -> list[Tensor]:
        """Class centres of each view [C, d]: a projection of its classifier's weights."""
        share = current_share()
        return [
            cast(Tensor, projector(share.once(classifier.weight)))
            for projector, classifier in zip(self.projectors, self.classifiers, strict=True)
        ]


class Bcl(MultiViewMethod):
    """Zhu et al., "Balanced contrastive learning for long-tailed visual recognition" (2022).

    [V] Cosine classifier of scale 30 with the log prior, contrast weighted 0.35 at temperature
    0.07, messages projected by a one-hidden-layer MLP and class centres by another from the
    classifier's weights, to the same width, compared by cosine. [C] One embedding per message and
    view instead of two augmented images; both MLPs per view, as wide as an embedding; no batch
    normalisation in them.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "network.classifier": "cosine",
        "network.cosine_scale": 30.0,
    }

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return logit-adjusted cross-entropy + 0.35 * the balanced contrast."""
        contrast = BalancedContrast(network, self.settings.network.head_hidden, self.seed)
        terms = {
            "error": self.error_term(RegisteredLoss("logit-adjusted")),
            "contrastive": Term(contrast, CONTRAST_WEIGHT),
        }
        return self.classifying(network, counts, terms)
