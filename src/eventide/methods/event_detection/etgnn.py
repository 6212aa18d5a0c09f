"""ETGNN: evidential temporal-aware graph network, without class-wise boundaries.

Ren et al., "Evidential Temporal-aware Graph-based Social Event Detection via Dempster-Shafer
Theory" (ICWS 2022). [P] evidence per view, Dempster's fusion, the prediction error, and the
divergence of misleading evidence on all messages, annealed until it weighs 1. [P, of our paper,
which builds on it] evidence by ReLU, views that agree by L_Common with weight 0.5. These are the
method's own: no preset changes them. [C] encoder, heads and the 25 epochs of annealing are ours, so
that in the preset ``paper`` it differs from UCL in the objective alone, which has no contrastive
term and no EUC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from eventide.methods.trained import MultiViewMethod
from eventide.methods.ucl import BALANCED

OBJECTIVE = {
    "loss.calibration": "misleading",
    "loss.contrastive_weight": 0.0,
    "loss.agreement_weight": 0.5,
}
AS_PRINTED = {"network.evidence": "relu", "loss.calibration_weight": 1.0}
OURS = {
    "network.evidence": "exp",
    "network.logit_bound": 5.0,
    "loss.calibration_weight": 0.1,
}


class Etgnn(MultiViewMethod):
    """L_Error + annealed KL(Dir(alpha~) to Dir(1)) on all messages + lambda3 * L_Common."""

    defaults: ClassVar[Mapping[str, Any]] = OBJECTIVE | AS_PRINTED


class EtgnnExp(MultiViewMethod):
    """ETGNN's objective with the evidence and the light calibration of our default preset.

    So that a comparison with UCL in that preset is one of objectives alone.
    """

    defaults: ClassVar[Mapping[str, Any]] = OBJECTIVE | OURS
    note: ClassVar[str] = (
        "ETGNN with {settings.network.evidence} evidence and calibration weight"
        " {settings.loss.calibration_weight:g}"
    )


class EtgnnBalanced(MultiViewMethod):
    """ETGNN+CB: the error of rare classes is weighted up."""

    defaults: ClassVar[Mapping[str, Any]] = OBJECTIVE | AS_PRINTED | BALANCED
