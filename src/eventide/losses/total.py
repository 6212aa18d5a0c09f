"""The objective: every term by name, and their weighted sum; equation `eq_total`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from eventide.losses.agreement import view_agreement
from eventide.losses.class_state import ClassStatistics
from eventide.losses.contrastive.margins import margins_of
from eventide.losses.contrastive.prototypical import PROTOTYPES, Prototypes, prototype_loss
from eventide.losses.evidence_calibration import (
    annealing,
    misleading_divergence,
    uncertainty_calibration,
)
from eventide.losses.evidential import evidential_error
from eventide.losses.reduction import class_balanced_weights, mean
from eventide.losses.settings import LossSettings
from eventide.networks.multi_view import ViewOutput
from eventide.opinions.fusion import fuse
from eventide.opinions.opinion import Opinion


class TotalLoss(nn.Module):
    """L_Error + lambda1 * L_EUC + lambda2 * sum over views of L_UCL + lambda3 * L_Common.

    A module, because learned prototypes train with the network; ``seed`` decides their start.
    """

    prototypes: Prototypes

    def __init__(
        self,
        *,
        views: Sequence[str],
        classes: int,
        width: int,
        settings: LossSettings | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.settings = settings or LossSettings()
        generator = torch.Generator().manual_seed(seed)
        self.prototypes = PROTOTYPES.load(self.settings.prototypes)(
            views, classes, width, generator=generator
        )

    def terms(
        self,
        outputs: Mapping[str, ViewOutput],
        labels: Tensor,
        statistics: ClassStatistics,
        epoch: int,
    ) -> dict[str, Tensor]:
        """Return every active term, one value per message [B], before the lambdas.

        `error` carries the class-balanced weights and `calibration` its annealing; `contrastive`
        is the sum over the views. ``epoch`` counts from 1.
        """
        settings = self.settings
        opinion = fuse([Opinion.from_evidence(output.evidence) for output in outputs.values()])
        terms = {"error": evidential_error(opinion, labels)}
        if settings.class_balanced:
            weights = class_balanced_weights(statistics.counts, settings.class_balanced_base)
            terms["error"] = weights[labels] * terms["error"]
        if settings.calibration != "none" and settings.calibration_weight > 0:
            calibrate = (
                uncertainty_calibration if settings.calibration == "euc" else misleading_divergence
            )
            ramp = annealing(epoch, settings.annealing_epochs)
            terms["calibration"] = ramp * calibrate(opinion, labels)
        if settings.contrastive_weight > 0:
            terms["contrastive"] = self._contrastive(outputs, labels, statistics)
        if settings.agreement_weight > 0 and len(outputs) > 1:
            terms["agreement"] = view_agreement([view.embeddings for view in outputs.values()])
        return terms

    def _contrastive(
        self, outputs: Mapping[str, ViewOutput], labels: Tensor, statistics: ClassStatistics
    ) -> Tensor:
        margins = margins_of(self.settings.margin, statistics, self.settings.margin_scale)
        per_view = [
            prototype_loss(
                output.embeddings,
                self.prototypes.of(view),
                labels,
                margins=margins,
                present=statistics.present,
                temperature=self.settings.temperature,
            )
            for view, output in outputs.items()
        ]
        return torch.stack(per_view).sum(dim=0)

    @property
    def weights(self) -> dict[str, float]:
        """The lambda of each term, by its name."""
        return {
            "error": 1.0,
            "calibration": self.settings.calibration_weight,
            "contrastive": self.settings.contrastive_weight,
            "agreement": self.settings.agreement_weight,
        }

    def forward(
        self,
        outputs: Mapping[str, ViewOutput],
        labels: Tensor,
        statistics: ClassStatistics,
        epoch: int,
    ) -> tuple[Tensor, dict[str, float]]:
        """Return the scalar to minimise, and for the log the mean of each term and the `total`."""
        means = {
            name: mean(values)
            for name, values in self.terms(outputs, labels, statistics, epoch).items()
        }
        total = cast(Tensor, sum(self.weights[name] * value for name, value in means.items()))
        return total, _numbers(means | {"total": total})


def _numbers(values: Mapping[str, Tensor]) -> dict[str, float]:
    """Read all at once: on another device every reading waits."""
    together = torch.stack([value.detach().double() for value in values.values()])
    return dict(zip(values, together.tolist(), strict=True))
