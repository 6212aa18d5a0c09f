"""ETGNN: evidential temporal-aware graph network, without class-wise boundaries.

Ren et al., "Evidential Temporal-aware Graph-based Social Event Detection via Dempster-Shafer
Theory" (ICWS 2022). [P] evidence per view, Dempster's fusion, the prediction error, and the
divergence of misleading evidence on all messages, annealed. [C] encoder and heads are ours, so
that it differs from UCL in the objective alone, and the views agree by the same L_Common: no
contrastive term, no EUC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from eventide.methods.trained import MultiViewMethod


class Etgnn(MultiViewMethod):
    """L_Error + annealed KL(Dir(alpha~) to Dir(1)) on all messages + lambda3 * L_Common."""

    defaults: ClassVar[Mapping[str, Any]] = {
        "loss.calibration": "misleading",
        "loss.contrastive_weight": 0.0,
        "loss.class_balanced": False,
    }
