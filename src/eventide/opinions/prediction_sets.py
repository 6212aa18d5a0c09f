"""Sets of events that hold the true one with a wanted probability (split conformal prediction).

An event is in a message's set if its probability is at least a limit. The limit is taken from
labelled messages that were not trained on, so that their own events would be in their sets often
enough. This is the score of Sadinle et al. (2019), which gives the smallest sets on average; the
limit of a message's set is one number that a person can read.

One limit for all messages covers the share wanted of all messages, and perhaps few of a rare event.
So classes have limits of their own where they have enough labelled messages; smaller classes share
one with classes of about their size. Who shares is decided by counts alone: so no labelled message
is spent on it, and the coverage of each such cluster holds as exactly as that of a class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eventide.errors import BadSetting
from eventide.registry import suggestion

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
KINDS = ("marginal", "class", "clustered")
ENOUGH = 2.0
"""A class has a limit of its own from ENOUGH / (1 - coverage) messages on: 20 at 90 %."""


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """The least probability with which each class is in a set [C], and who shares it [C]."""

    coverage: float
    limit: Floats
    cluster: Ints

    @classmethod
    def fit(
        cls, probability: Floats, labels: Ints, coverage: float = 0.9, kind: str = "clustered"
    ) -> PredictionSets:
        """Find limits on calibrated probabilities [n, C] of messages that were not trained on.

        ``kind`` is "marginal" (one limit), "class" (one per class; a class with too few messages
        has the common one), or "clustered" (classes with too few share one with their like).

        >>> sure = np.array([[0.9, 0.1]] * 30)
        >>> PredictionSets.fit(sure, np.zeros(30, dtype=int), kind="marginal").limit.tolist()
        [0.9, 0.9]
        """
        check_coverage(coverage)
        if kind not in KINDS:
            raise BadSetting(
                f"kind of prediction set cannot be {kind!r}", next_step=suggestion(kind, KINDS)
            )
        counts = np.bincount(labels, minlength=probability.shape[1])
        cluster = clusters_of(counts, coverage, kind)
        own = probability[np.arange(len(labels)), labels]
        common = limit_of(own, coverage)
        limits = [
            limit_of(own[cluster[labels] == each], coverage) if each >= 0 else common
            for each in range(-1, int(cluster.max(initial=-1)) + 1)
        ]
        return cls(coverage, np.array(limits)[cluster + 1], cluster)

    def contains(self, probability: Floats, assigned: Ints) -> Bools:
        """Tell which classes [n, C] are in each message's set; the assigned one always is."""
        inside: Bools = probability >= self.limit
        inside[np.arange(len(assigned)), assigned] = True
        return inside

    def members(self, probability: Floats, assigned: Ints) -> list[Ints]:
        """Return the classes of each set: the assigned one, then the others by probability."""
        inside = self.contains(probability, assigned)
        ranked = np.where(inside, probability, -1.0)
        ranked[np.arange(len(assigned)), assigned] = np.inf
        order = np.argsort(-ranked, axis=1, kind="stable")
        return [row[:size] for row, size in zip(order, inside.sum(axis=1), strict=True)]


def check_coverage(coverage: float) -> None:
    """Refuse a coverage that is no share."""
    if not 0 < coverage < 1:
        raise BadSetting(
            f"a coverage of {coverage!r} is not possible",
            next_step="give a share between 0 and 1, such as 0.9",
        )


def limit_of(own: Floats, coverage: float) -> float:
    """Return the largest limit that leaves out at most the share 1 - coverage of true events.

    Of n messages and one new one, ceil((n + 1) * coverage) must be covered; where that is more than
    n, only the limit 0 (every event) is safe.

    >>> limit_of(np.arange(1, 10) / 10, 0.9), limit_of(np.arange(1, 9) / 10, 0.9)
    (0.1, 0.0)
    """
    covered = math.ceil((len(own) + 1) * coverage - 1e-9)
    if covered > len(own):
        return 0.0
    return float(np.sort(own)[len(own) - covered])


def clusters_of(counts: Ints, coverage: float, kind: str) -> Ints:
    """Number the clusters of classes [C] by their counts; -1 has the limit of all messages."""
    cluster = np.full(len(counts), -1)
    enough = ENOUGH / (1 - coverage) - 1e-9
    if kind == "marginal":
        return cluster
    order: Sequence[int] = np.argsort(-counts, kind="stable").tolist()
    groups: list[list[int]] = [[each] for each in order if counts[each] >= enough]
    if kind == "clustered":
        small = [each for each in order if counts[each] < enough]
        joined: list[list[int]] = [[]]
        for each in small:
            if counts[joined[-1]].sum() >= enough:
                joined.append([])
            joined[-1].append(each)
        if len(joined) > 1 and counts[joined[-1]].sum() < enough:
            rest = joined.pop()
            joined[-1] += rest
        groups += [each for each in joined if each and counts[each].sum() >= enough]
    for number, group in enumerate(groups):
        cluster[group] = number
    return cluster
