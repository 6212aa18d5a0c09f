"""Groups classes by their uncertainty (certain, middle, uncertain), and scores each group.

The groups are computed once per split from the class uncertainty of one method on training messages
(UCL-EC), and used for every method, so that all are scored on the same classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eventide.errors import InputError
from eventide.scoring.metrics import Labels

GROUPS = ("certain", "middle", "uncertain")


@dataclass(frozen=True)
class ClassGroups:
    """The group of each class; ``edges`` are the two uncertainties between the groups."""

    classes: tuple[Any, ...]
    uncertainty: tuple[float, ...]
    group: tuple[str, ...]
    edges: tuple[float, float]

    def members(self, name: str) -> list[Any]:
        """List the classes of one group."""
        return [
            label for label, group in zip(self.classes, self.group, strict=True) if group == name
        ]

    def sizes(self) -> dict[str, int]:
        """Count the classes of each group; an empty one counts 0."""
        return {name: self.group.count(name) for name in GROUPS}


@dataclass(frozen=True)
class GroupScore:
    """Mean recall (called accuracy) and F1 of the classes of one group; None without classes.

    ``classes`` counts the group's classes, ``messages`` their messages in the scored split.
    """

    group: str
    classes: int
    messages: int
    accuracy: float | None
    f1: float | None


def class_groups(classes: Sequence[Any] | NDArray[Any], uncertainty: ArrayLike) -> ClassGroups:
    """Cut the range of class uncertainty into thirds of equal width.

    A value on an edge belongs to the more certain group, as in the paper. A group may be empty; if
    all classes are equally uncertain, all are certain.

    >>> class_groups(["a", "b", "c"], [0.1, 0.15, 0.4]).sizes()
    {'certain': 2, 'middle': 0, 'uncertain': 1}
    """
    values = np.asarray(uncertainty, dtype=np.float64)
    if values.shape != (len(classes),) or not len(values) or not np.isfinite(values).all():
        raise InputError(
            f"{len(classes)} classes need one finite uncertainty each, got {values.tolist()}",
            next_step="take the class uncertainty of training messages after training",
        )
    lowest, highest = float(values.min()), float(values.max())
    edges = lowest + (highest - lowest) / 3, lowest + 2 * (highest - lowest) / 3
    thirds = np.searchsorted(edges, values, side="left") if highest > lowest else 0 * values
    return ClassGroups(
        classes=tuple(
            label.item() if isinstance(label, np.generic) else label for label in classes
        ),
        uncertainty=tuple(values.tolist()),
        group=tuple(GROUPS[int(third)] for third in thirds),
        edges=edges,
    )


def group_scores(groups: ClassGroups, truth: Labels, predicted: Labels) -> tuple[GroupScore, ...]:
    """Average each class's accuracy (its recall) and F1 within the groups.

    A class's F1 counts the predictions of all messages. Classes without messages are left out.
    """
    from sklearn.metrics import precision_recall_fscore_support

    _, recall, f1, counts = precision_recall_fscore_support(
        np.asarray(truth), np.asarray(predicted), labels=list(groups.classes), zero_division=0
    )
    scores = []
    for name in GROUPS:
        own = np.array([group == name for group in groups.group])
        seen = own & (counts > 0)
        scores.append(
            GroupScore(
                group=name,
                classes=int(own.sum()),
                messages=int(counts[own].sum()),
                accuracy=float(recall[seen].mean()) if seen.any() else None,
                f1=float(f1[seen].mean()) if seen.any() else None,
            )
        )
    return tuple(scores)
