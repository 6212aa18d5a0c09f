"""How well the messages that a contestant calls new are grouped: one candidate for each new event.

What is called new is grouped as ``eventide discover`` does, alike for every contestant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.novelty.candidates import Candidates

Bools = NDArray[np.bool_]
HALF, SHARE, PURITY = 0.5, 0.6, 0.9
"""An event is grouped where its largest candidate has this share of it, and is so pure."""


@dataclass(frozen=True)
class EventGrouping:
    """Of the messages of an event before its first label: how many, and its largest candidate.

    ``half`` is how many there had been on the first day that ended with half of them in it.
    """

    messages: int
    share: float
    purity: float
    half: int | None = None

    @property
    def grouped(self) -> bool:
        """Whether one pure candidate has most of the event."""
        return self.share >= SHARE and self.purity >= PURITY


@dataclass
class StreamGrouping:
    """Candidates of a contestant's stream, and what became of each new event in them."""

    found: Candidates = field(default_factory=Candidates.none)
    events: dict[str, EventGrouping] = field(default_factory=dict)
    _truth: dict[str, str] = field(default_factory=dict)
    _new: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        frame: pl.DataFrame,
        vectors: NDArray[np.float64],
        called: Bools,
        perhaps: Bools | None,
        truth: Sequence[str],
        known: Bools,
    ) -> None:
        """Group a day's messages; those not ``known`` are about events without any label."""
        self.found.add(frame, vectors.astype(np.float32), called, perhaps)
        ids = frame["id"].to_list()
        self._truth |= dict(zip(ids, truth, strict=True))
        for ident, event, old in zip(ids, truth, known, strict=True):
            if not old:
                self._new.setdefault(event, []).append(ident)
        candidate = dict(self.found.messages.select("id", "candidate").iter_rows())
        members: dict[str, list[str]] = {}
        for ident, name in candidate.items():
            if name is not None:
                members.setdefault(name, []).append(ident)
        today = {event for event, old in zip(truth, known, strict=True) if not old}
        for event in today:
            own, before = self._new[event], self.events.get(event)
            half = None if before is None else before.half
            joined = [candidate.get(ident) for ident in own]
            names = Counter(name for name in joined if name is not None)
            if not names:
                self.events[event] = EventGrouping(len(own), 0.0, 0.0, half)
                continue
            largest, count = names.most_common(1)[0]
            same = np.mean([self._truth[ident] == event for ident in members[largest]])
            share = count / len(own)
            half = len(own) if half is None and share >= HALF else half
            self.events[event] = EventGrouping(len(own), share, float(same), half)

    @property
    def purity(self) -> float | None:
        """The share of the grouped messages that are of their candidate's commonest event."""
        rows = self.found.messages.drop_nulls("candidate")
        by: dict[str, Counter[str]] = {}
        for ident, name in rows.select("id", "candidate").iter_rows():
            by.setdefault(name, Counter())[self._truth[ident]] += 1
        if not by:
            return None
        return sum(each.most_common(1)[0][1] for each in by.values()) / len(rows)
