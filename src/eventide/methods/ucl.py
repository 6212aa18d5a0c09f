"""UCL and UCL-EC, the paper's two methods, each also with +CB: they differ by settings alone."""

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
