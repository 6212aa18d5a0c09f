"""Accuracy and its company: the figures every table of results prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = Sequence[Any] | NDArray[Any]


def accuracy(truth: Labels, predicted: Labels, weights: NDArray[np.float64] | None = None) -> float:
    """Share of messages whose label was predicted; a message counts by its weight, if it has one.

    >>> accuracy(["a", "b"], ["a", "a"]), accuracy(["a", "b"], ["a", "a"], np.array([3.0, 1.0]))
    (0.5, 0.75)
    """
    return float(np.average(np.asarray(truth) == np.asarray(predicted), weights=weights))


def macro_f1(truth: Labels, predicted: Labels) -> float:
    """F1 averaged over the classes that occur in ``truth``, each counting the same.

    >>> macro_f1(["a", "a", "b"], ["a", "a", "c"])
    0.5
    """
    from sklearn.metrics import f1_score

    labels = np.unique(np.asarray(truth))
    return float(f1_score(truth, predicted, labels=labels, average="macro", zero_division=0))


def tail_recall(truth: NDArray[np.int64], predicted: Labels, counts: NDArray[np.int64]) -> float:
    """Mean recall of the third of the classes with the fewest training messages (``counts`` [C]).

    Classes without a message in ``truth`` are left out; of equal sizes the first ones count.

    >>> tail_recall(np.array([0, 1, 2, 2]), np.array([0, 1, 2, 0]), np.array([9, 5, 2]))
    0.5
    """
    predicted = np.asarray(predicted)
    present = [each for each in np.argsort(counts, kind="stable") if (truth == each).any()]
    smallest = present[: -(-len(present) // 3)]
    recalls = [(predicted[truth == each] == each).mean() for each in smallest]
    return float(np.mean(recalls)) if recalls else 0.0


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


def score(truth: Labels, predicted: Labels) -> Scores:
    """Compare predicted with true labels.

    >>> score(["a", "a", "b"], ["a", "b", "b"]).accuracy
    0.6666666666666666
    """
    from sklearn import metrics

    return Scores(
        accuracy=accuracy(truth, predicted),
        macro_f1=macro_f1(truth, predicted),
        nmi=float(metrics.normalized_mutual_info_score(truth, predicted)),
        ami=float(metrics.adjusted_mutual_info_score(truth, predicted)),
        ari=float(metrics.adjusted_rand_score(truth, predicted)),
        messages=len(truth),
    )


def error_auroc(wrong: NDArray[np.bool_], doubt: NDArray[Any]) -> float | None:
    """Say how well doubt ranks wrong above right predictions: 1 is perfect, 0.5 is chance.

    None where every prediction is right, or every one wrong: there is nothing to rank.

    >>> import numpy as np
    >>> error_auroc(np.array([True, False, False]), np.array([0.9, 0.2, 0.1]))
    1.0
    """
    from sklearn.metrics import roc_auc_score

    if wrong.all() or not wrong.any():
        return None
    return float(roc_auc_score(wrong, doubt))
