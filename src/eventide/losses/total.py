"""The total loss of the paper: its four terms by name, and their weighted sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from torch import Tensor

from eventide.errors import BadSetting
from eventide.losses.contrastive.prototypical import PrototypeContrast
from eventide.losses.evidence_calibration import annealing
from eventide.losses.loss_inputs import Loss, LossInputs
from eventide.losses.reduction import error_reduction
from eventide.losses.settings import LossSettings
from eventide.losses.terms import RegisteredLoss, Term


def total_loss(terms: Mapping[str, Tensor], weights: Mapping[str, float]) -> Tensor:
    """Equation `eq_total`: the sum of every term of a batch times its weight.

    >>> import torch
    >>> total_loss({"error": torch.tensor(2.0), "agreement": torch.tensor(4.0)},
    ...            {"error": 1.0, "agreement": 0.5}).item()
    4.0
    """
    return cast(Tensor, sum(weights[name] * value for name, value in terms.items()))


def paper_terms(
    settings: LossSettings, *, views: Sequence[str], classes: int, width: int, seed: int
) -> dict[str, Term]:
    """Return L_Error, L_EUC, L_UCL (summed over the views) and L_Common with their lambdas.

    A term whose weight is 0 is left out, and so is the agreement of a single view. ``width`` is the
    length of an embedding; ``seed`` decides where learned prototypes start.
    """
    terms = {"error": Term(RegisteredLoss("error"), reduction=error_reduction(settings))}
    if settings.calibration != "none" and settings.calibration_weight > 0:
        calibration = Annealed(_on_opinions(settings.calibration), settings.annealing_epochs)
        terms["calibration"] = Term(calibration, settings.calibration_weight)
    if settings.contrastive_weight > 0:
        contrast = PrototypeContrast(views, classes, width, settings, seed)
        terms["contrastive"] = Term(contrast, settings.contrastive_weight)
    return terms | agreement_term(settings, views)


def _on_opinions(name: str) -> RegisteredLoss:
    loss = RegisteredLoss(name)
    if "opinion" not in loss.asks:
        raise BadSetting(
            f"loss.calibration cannot be {name!r}: that loss does not read the opinion",
            next_step="choose euc or misleading, or add the loss with loss.extra_terms",
        )
    return loss


def agreement_term(settings: LossSettings, views: Sequence[str]) -> dict[str, Term]:
    """Return lambda3 * L_Common, or nothing where there is nothing to agree on."""
    if settings.agreement_weight == 0 or len(views) < 2:
        return {}
    return {"agreement": Term(RegisteredLoss("agreement"), settings.agreement_weight)}


@dataclass(frozen=True)
class Annealed:
    """A loss times `annealing`, the ramp of equation `eq_euc`."""

    loss: Loss
    epochs: float

    def __call__(self, inputs: LossInputs) -> Tensor:
        """Return the annealed loss of each message [B]."""
        return annealing(inputs.epoch, self.epochs) * self.loss(inputs)
