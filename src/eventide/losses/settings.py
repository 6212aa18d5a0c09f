"""What the objective is made of, and the paper's ablations of it; defaults are UCL as printed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeFloat, PositiveFloat

from eventide.errors import UnknownName
from eventide.losses import LOSSES, MARGINS, PROTOTYPES
from eventide.opinions import FUSIONS
from eventide.setting_group import SettingGroup

NO_CALIBRATION = "none"


def _calibration(name: str) -> str:
    return name if name == NO_CALIBRATION else LOSSES.checked(name)


def _weights(value: object) -> object:
    """Read ``scl:0.1,focal:1`` as a mapping; anything else is left to its type."""
    if not isinstance(value, str):
        return value
    pairs = [pair.rpartition(":") for pair in value.split(",") if pair.strip()]
    return {name.strip(): weight.strip() for name, _, weight in pairs}


LossName = Annotated[str, AfterValidator(LOSSES.checked)]
MarginName = Annotated[str, AfterValidator(MARGINS.checked)]
PrototypeName = Annotated[str, AfterValidator(PROTOTYPES.checked)]
FusionName = Annotated[str, AfterValidator(FUSIONS.checked)]
CalibrationName = Annotated[str, AfterValidator(_calibration)]


class LossSettings(SettingGroup):
    """Terms of equation `eq_total` and their weights; a weight of 0 leaves its term out.

    >>> LossSettings(prototypes="centroids").contrastive_weight
    0.1
    """

    margin: MarginName = "uncertainty"
    """What decides how far other classes must stay from a class (`uncertainty` is UCL)."""
    margin_scale: NonNegativeFloat = 0.1
    """The paper's beta: the fixed margin, or what multiplies a class's statistic."""
    prototypes: PrototypeName = "learned"
    """`learned` is UCL; `centroids`, recomputed every epoch, is UCL-EC; `unit` are learned and kept
    on the unit sphere."""
    temperature: PositiveFloat = 1.0
    """Divides the similarities and margins of the contrastive term."""
    calibration: CalibrationName = "euc"
    """A loss on the fused opinion, or `none`. `euc` is the paper's; `misleading`, the divergence on
    all messages, is ETGNN's."""
    calibration_weight: NonNegativeFloat = 1.0
    """Weight of calibration, the paper's lambda 1."""
    annealing_epochs: NonNegativeFloat = 25.0
    """Epochs until calibration has its full weight."""
    contrastive_weight: NonNegativeFloat = 0.1
    """Weight of the contrastive term, the paper's lambda 2."""
    agreement_weight: NonNegativeFloat = 0.5
    """Weight of the agreement of the views, the paper's lambda 3."""
    class_balanced: bool = False
    """Weight the error of rare classes up (the paper's +CB)."""
    class_balanced_base: float = Field(default=0.9999, ge=0, lt=1)
    """The nearer to 1, the more a rare class counts; 0 weighs all classes alike."""
    class_balanced_scale: Literal["classes", "messages"] = "classes"
    """How +CB's weights are scaled. `classes`, as printed: they sum to the number of classes;
    `messages`: a training message weighs 1 on average, so that the error keeps its share of the
    total."""
    prior_adjustment: NonNegativeFloat = 0.0
    """While training, add this much of log(class share) to what the heads say, divided among the
    views: rare classes must then speak louder to be right, and are not drowned afterwards. 1 is
    logit adjustment in full; 0 none."""
    uncertainty_weights: NonNegativeFloat = 0.0
    """Weight the error of a class by its uncertainty to this power; 0 weighs all classes alike.
    Together with `class_balanced` both weights multiply."""
    fusion: FusionName = "dempster"
    """How methods with evidence combine the opinions of the views."""
    extra_terms: Annotated[dict[LossName, PositiveFloat], BeforeValidator(_weights)] = Field(
        default={}
    )
    """Registered losses to add to the objective, each with its weight: `scl:0.1,k-positive:1`."""


ABLATIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "ucl": {},
        "psc": {"margin": "none"},
        "psc+m": {"margin": "fixed"},
        "psc+dm": {"margin": "error_rate", "calibration": "none"},
        "psc+dm+euc": {"margin": "error_rate"},
        "ucl-without-euc": {"calibration": "none"},
        "ucl+frequency": {"margin": "frequency"},
        "ucl+cb": {"class_balanced": True},
    }
)
"""What differs from UCL; with ``prototypes="centroids"`` each has its EC twin."""


def ablation_changes(name: str) -> dict[str, Any]:
    """Return what an ablation changes in UCL, by dotted names of settings.

    >>> ablation_changes("ucl+cb")
    {'loss.class_balanced': True}
    """
    return {f"loss.{setting}": value for setting, value in ABLATIONS[name].items()}


def ablation(name: str, *, centroids: bool = False) -> LossSettings:
    """Return the objective of one ablation, with epoch centroids for its EC twin.

    >>> ablation("psc+m", centroids=True).margin
    'fixed'
    """
    if name not in ABLATIONS:
        raise UnknownName(
            f"no ablation is called {name!r}", next_step=f"known: {', '.join(ABLATIONS)}"
        )
    return LossSettings(prototypes="centroids" if centroids else "learned", **ABLATIONS[name])
