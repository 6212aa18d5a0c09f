"""When each event was written about: how dense its labelled messages lie around a time.

The density of an event is a mean of kernels exp(-distance / scale), with scales from half a time
bucket to the whole span, so that it is sharp where messages are and never falls off a cliff.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FIRST_SCALE, GROWTH = 0.5, 4.0
"""The scale of the sharpest kernel in time buckets, and how much wider each next one is."""
ANYWHERE = 1.0
"""Messages of every event that could have been written at any time of the span."""
MOST_MOMENTS = 2_000
"""Times that are told apart; where buckets are short and the span is long, they are joined."""


class EventTimes:
    """The times [n] of labelled messages and their ``labels`` [n] of C classes.

    >>> times = EventTimes(np.array([0, 0, 9]), np.array([0, 0, 1]), classes=2)
    >>> times.log_density(np.array([0, 9])).argmax(axis=1).tolist()
    [0, 1]
    """

    def __init__(self, times: Ints, labels: Ints, classes: int) -> None:
        self.first = int(times.min()) if len(times) else 0
        self.last = int(times.max()) if len(times) else 0
        self._width = max(1, -(-(self.last - self.first + 1) // MOST_MOMENTS))
        places, self._at = np.unique(self._places(times), return_inverse=True)
        self._moments, self._labels, self._classes = places, labels, classes

    def log_density(self, times: Ints) -> Floats:
        """Return the log density of every class at each time [n, C]."""
        asked, back = np.unique(self._places(times), return_inverse=True)
        distance = np.abs(asked[:, None] - self._moments).astype(np.float64)
        kernels = np.zeros_like(distance)
        for scale in self._scales:
            kernels += np.exp(-distance / scale) / (2 * scale * len(self._scales))
        counts = self._counts.sum(axis=0)
        density = (kernels @ self._counts + ANYWHERE / self._span) / (counts + ANYWHERE)
        found: Floats = np.log(density)[back]
        return found

    def _places(self, times: Ints) -> Ints:
        return (times - self.first) // self._width

    @property
    def _span(self) -> int:
        return (self.last - self.first) // self._width + 1

    @cached_property
    def _scales(self) -> list[float]:
        scales = [FIRST_SCALE]
        while scales[-1] <= self._span:
            scales.append(scales[-1] * GROWTH)
        return scales

    @cached_property
    def _counts(self) -> Floats:
        """Labelled messages of each class at each moment [moments, C]."""
        counts = np.zeros((len(self._moments), self._classes))
        np.add.at(counts, (self._at, self._labels), 1)
        return counts
