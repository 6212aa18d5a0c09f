"""UCL and UCL-EC, the paper's two methods, each also with +CB, and ours, which came of them.

They differ by settings alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from eventide.losses.settings import ablation_changes
from eventide.methods.trained import MultiViewMethod

LEARNED = {"loss.prototypes": "learned"}
CENTROIDS = {"loss.prototypes": "centroids"}
BALANCED = ablation_changes("ucl+cb")


class Ucl(MultiViewMethod):
    """UCL: prototypes are learned and move with every batch."""

    defaults: ClassVar[Mapping[str, Any]] = LEARNED


class UclEc(MultiViewMethod):
    """UCL-EC: prototypes are the training messages' class centroids, fixed for an epoch."""

    defaults: ClassVar[Mapping[str, Any]] = CENTROIDS


class UclBalanced(MultiViewMethod):
    """UCL+CB: the error of rare classes is weighted up."""

    defaults: ClassVar[Mapping[str, Any]] = LEARNED | BALANCED


class UclEcBalanced(MultiViewMethod):
    """UCL-EC+CB: the error of rare classes is weighted up."""

    defaults: ClassVar[Mapping[str, Any]] = CENTROIDS | BALANCED


class UclSharp(MultiViewMethod):
    """Ours: UCL-EC whose boundaries can act.

    Evidence is counted in units of C, so that certainty does not depend on the number of classes.
    Heads must overcome the class sizes while they learn. The contrast has a low temperature, at
    which a margin moves the boundary, and the margin is wider for rarer classes. Attention only
    ever falls with time. How common an event is, unlabelled messages say. A pool of experts, the
    network first, decides the event. Each choice was made on unlocked messages (docs/tuning.md).
    """

    defaults: ClassVar[Mapping[str, Any]] = CENTROIDS | {
        "loss.margin": "frequency",
        "loss.margin_scale": 0.5,
        "loss.temperature": 0.1,
        "loss.contrastive_weight": 0.3,
        "loss.calibration_weight": 0.1,
        "loss.prior_adjustment": 1.0,
        "network.evidence": "exp",
        "network.evidence_unit": "classes",
        "network.time_decay": "positive",
        "network.dropout": 0.5,
        "training.batch_size": 256,
        "training.weight_decay": 5e-4,
        "training.fast_start": 4.0,
        "training.estimated_shares": True,
        "training.pooled_experts": True,
    }
