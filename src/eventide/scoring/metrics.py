"""Accuracy and its company: the figures every table of results prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Scores:
    """How well labels were predicted; accuracy and macro-F1 are the paper's two measures."""

    accuracy: float
    macro_f1: float
    nmi: float
    ami: float
    ari: float
    messages: int

    def as_dict(self) -> dict[str, float]:
        """Return the figures by name."""
        return asdict(self)


def score(truth: Sequence[Any] | NDArray[Any], predicted: Sequence[Any] | NDArray[Any]) -> Scores:
    """Compare predicted with true labels; macro-F1 averages over the classes in ``truth``.

    >>> score(["a", "a", "b"], ["a", "b", "b"]).accuracy
    0.6666666666666666
    """
    from sklearn import metrics

    truth, predicted = np.asarray(truth), np.asarray(predicted)
    return Scores(
        accuracy=float(np.mean(truth == predicted)),
        macro_f1=float(
            metrics.f1_score(
                truth, predicted, labels=np.unique(truth), average="macro", zero_division=0
            )
        ),
        nmi=float(metrics.normalized_mutual_info_score(truth, predicted)),
        ami=float(metrics.adjusted_mutual_info_score(truth, predicted)),
        ari=float(metrics.adjusted_rand_score(truth, predicted)),
        messages=len(truth),
    )


def error_auroc(wrong: NDArray[np.bool_], uncertainty: NDArray[Any]) -> float | None:
    """Say how well uncertainty ranks wrong above right predictions: 1 is perfect, 0.5 is chance.

    None where every prediction is right, or every one wrong: there is nothing to rank.

    >>> import numpy as np
    >>> error_auroc(np.array([True, False, False]), np.array([0.9, 0.2, 0.1]))
    1.0
    """
    from sklearn.metrics import roc_auc_score

    if wrong.all() or not wrong.any():
        return None
    return float(roc_auc_score(wrong, uncertainty))
