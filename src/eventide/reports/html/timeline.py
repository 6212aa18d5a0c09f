"""When events were talked about: messages per event and day, week or month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 92
"""Steps of a timeline: with more, a day becomes a week, and a week a month."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Timeline:
    """Counts [events, steps]; ``unit`` is day, week or month, ``labels`` name the steps."""

    unit: str
    labels: tuple[str, ...]
    counts: Ints
    undated: int

    @property
    def total(self) -> Ints:
        """Messages of each step."""
        summed: Ints = self.counts.sum(axis=0)
        return summed


def timeline(days: NDArray[np.datetime64], event: Ints, events: int) -> Timeline:
    """Count messages per event and step, in UTC; the first unit is taken that gives few steps.

    >>> days = np.array(["2024-03-01", "2024-03-03"], "datetime64[D]")
    >>> found = timeline(days, np.array([0, 1]), 2)
    >>> found.unit, found.labels, found.counts.tolist()
    ('day', ('2024-03-01', '2024-03-02', '2024-03-03'), [[1, 0, 0], [0, 0, 1]])
    """
    dated = ~np.isnat(days)
    known, own = days[dated], event[dated]
    span = int((known.max() - known.min()).astype(int)) + 1
    unit, step = "day", known.astype("datetime64[D]").astype(int)
    if span > MOST_STEPS:
        unit, step = "week", (known.astype("datetime64[D]").astype(int) + 3) // 7
    if span > 7 * MOST_STEPS:
        unit, step = "month", known.astype("datetime64[M]").astype(int)
    if span > 31 * MOST_STEPS:
        unit, step = "year", known.astype("datetime64[Y]").astype(int)
    first, steps = int(step.min()), int(step.max() - step.min()) + 1
    counts = np.bincount(own * steps + (step - first), minlength=events * steps)
    return Timeline(
        unit,
        tuple(_label(first + k, unit) for k in range(steps)),
        counts.reshape(events, steps),
        int((~dated).sum()),
    )


def _label(step: int, unit: str) -> str:
    if unit == "week":
        return str(np.datetime64(step * 7 - 3, "D"))  # its Monday
    letter = {"day": "D", "month": "M", "year": "Y"}[unit]
    return str(np.array(step).astype(f"datetime64[{letter}]"))
