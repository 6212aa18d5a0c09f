"""What the objective is made of; the defaults are UCL with the paper's printed settings."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat

from eventide.setting_group import SettingGroup

MarginName = Literal["none", "fixed", "error_rate", "uncertainty", "frequency"]
PrototypeName = Literal["learned", "centroids"]
CalibrationName = Literal["none", "euc", "misleading"]


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
    """`learned` is UCL; `centroids`, recomputed every epoch, is UCL-EC."""
    temperature: PositiveFloat = 1.0
    """Divides the similarities and margins of the contrastive term."""
    calibration: CalibrationName = "euc"
    """`euc` is the paper's; `misleading` is ETGNN's divergence on all messages."""
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
