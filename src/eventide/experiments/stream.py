"""The stream benchmark: each day is assigned first, then scored, then a few labels are bought.

Until an event has its first label, "new" is the right answer for its messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eventide.arrays import unit_rows
from eventide.errors import InputError
from eventide.experiments.stream_contestants import Contestant, contestants
from eventide.experiments.stream_grouping import EventGrouping, StreamGrouping
from eventide.features.encoders import encoder as make_encoder

Bools = NDArray[np.bool_]
BUDGET = 10
START = 0.2
"""Share of the messages, the earliest, whose labels all have at the start."""


@dataclass(frozen=True)
class StreamDay:
    """One day of one contestant."""

    day: str
    messages: int
    right: int
    known: int
    right_known: int
    false_alarms: int
    new: int
    found_new: int
    labels: int
    seconds: float


@dataclass
class StreamResult:
    """All days of one contestant; ``delays`` are messages of each new event until it was flagged.

    An event that was never flagged before its first label has the delay None, and counts as later
    than all others in the median. ``groups`` say how its messages were grouped.
    """

    name: str
    days: list[StreamDay] = field(default_factory=list)
    delays: dict[str, int | None] = field(default_factory=dict)
    right: list[bool] = field(default_factory=list)
    groups: dict[str, EventGrouping] = field(default_factory=dict)
    purity: float | None = None

    def total(self, column: str) -> float:
        """Sum a column over the days."""
        return float(sum(getattr(day, column) for day in self.days))

    def summary(self) -> dict[str, Any]:
        """Return the figures in all, with a bootstrap interval of the accuracy."""
        known, new = self.total("known"), self.total("new")
        flagged = [each for each in self.delays.values() if each is not None]
        delays = [np.inf if each is None else each for each in self.delays.values()]
        median = float(np.median(delays)) if delays else np.inf
        shares = [each.share for each in self.groups.values()]
        low, high = bootstrap_interval(np.array(self.right))
        return {
            "name": self.name,
            "accuracy": self.total("right") / max(self.total("messages"), 1),
            "low": low,
            "high": high,
            "accuracy_known": self.total("right_known") / max(known, 1),
            "false_alarms": self.total("false_alarms") / max(known, 1),
            "false_alarms_a_day": self.total("false_alarms") / max(len(self.days), 1),
            "recall_new": self.total("found_new") / max(new, 1),
            "events_flagged": len(flagged),
            "new_events": len(self.delays),
            "median_delay": median if np.isfinite(median) else None,
            "events_grouped": sum(each.grouped for each in self.groups.values()),
            "median_share": float(np.median(shares)) if shares else None,
            "purity": self.purity,
            "labels": int(self.total("labels")),
            "seconds_a_day": self.total("seconds") / max(len(self.days), 1),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "summary": self.summary(),
            "delays": self.delays,
            "groups": {event: asdict(each) for event, each in self.groups.items()},
            "days": [asdict(day) for day in self.days],
        }


def difference_interval(
    one: StreamResult, other: StreamResult, draws: int = 1000
) -> tuple[float, float, float]:
    """Return by how much ``one`` is right more often, and a 95 % interval by drawing days again."""
    ends = np.cumsum([day.messages for day in one.days])[:-1]
    gain = np.array(one.right, dtype=float) - np.array(other.right, dtype=float)
    by_day = np.array([part.sum() for part in np.split(gain, ends)])
    sizes = np.array([day.messages for day in one.days], dtype=float)
    drawn = np.random.default_rng(0).integers(0, len(sizes), (draws, len(sizes)))
    means = by_day[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(gain.mean()), float(low), float(high)


def bootstrap_interval(right: Bools, draws: int = 200) -> tuple[float, float]:
    """Return a 95 % interval of the mean by drawing messages again.

    >>> bootstrap_interval(np.ones(5, dtype=bool))
    (1.0, 1.0)
    """
    if not len(right):
        return 0.0, 0.0
    random = np.random.default_rng(0)
    means = [right[random.integers(0, len(right), len(right))].mean() for _ in range(draws)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def stream_messages(frame: pl.DataFrame, most: int | None, seed: int) -> pl.DataFrame:
    """Return labelled messages with times, in order of time; at most so many of each event."""
    kept = frame.filter(pl.col("event").is_not_null() & pl.col("created_at").is_not_null())
    if most is not None:
        rank = pl.int_range(pl.len()).shuffle(seed=seed).over("event")
        kept = kept.filter(rank < most)
    return kept.sort("created_at", maintain_order=True)


def run_stream(
    frame: pl.DataFrame,
    names: Sequence[str],
    *,
    budget: int = BUDGET,
    choose: str = "method",
    start: float = START,
    encoder: str = "wordllama+tfidf-svd",
    epochs: int | None = None,
    seed: int = 0,
    watch: Callable[[str, StreamDay], None] = lambda _name, _day: None,
) -> list[StreamResult]:
    """Run contestants over messages in order of time (canonical, elements filled in).

    ``choose`` is "method" (labels are bought of the messages that a contestant wants most) or
    "random".
    """
    first = frame[: max(1, round(start * len(frame)))]
    rest = frame[len(first) :]
    if first["event"].n_unique() < 2 or not len(rest):
        raise InputError(
            f"the first {len(first):,} messages are of {first['event'].n_unique()} event",
            next_step="let the stream begin later: --start 0.4",
        )
    made = make_encoder(encoder).fit(first)
    before, after = (unit_rows(made.encode(part).astype(np.float64)) for part in (first, rest))
    makers = contestants(seed, encoder, epochs)
    unknown = [name for name in names if name not in makers]
    if unknown:
        raise InputError(
            f"no contestant {unknown[0]!r}", next_step=f"choose among {', '.join(makers)}"
        )
    results = []
    for name in names:
        contestant = makers[name]()
        contestant.start(first, before)
        results.append(_streamed(name, contestant, first, rest, after, budget, choose, seed, watch))
    return results


def _streamed(
    name: str,
    contestant: Contestant,
    first: pl.DataFrame,
    rest: pl.DataFrame,
    vectors: NDArray[np.float64],
    budget: int,
    choose: str,
    seed: int,
    watch: Callable[[str, StreamDay], None],
) -> StreamResult:
    labelled, grouping = set(first["event"].to_list()), StreamGrouping()
    result, met, random = StreamResult(name), dict[str, int](), np.random.default_rng(seed)
    days = rest["created_at"].dt.date().to_numpy()
    for day in np.unique(days):
        at = days == day
        frame = rest.filter(pl.Series(at))
        started = time.perf_counter()
        hidden = frame.with_columns(pl.lit(None, dtype=pl.String).alias("event"))
        said = contestant.assign(hidden, vectors[at])
        truth = frame["event"].to_list()
        known = np.array([event in labelled for event in truth])
        called = np.array([event is None for event in said.events])
        same = np.array([a == b for a, b in zip(said.events, truth, strict=True)])
        right = np.where(known, same, called)
        for event, flagged in zip(truth, called, strict=True):
            if event in labelled:
                continue
            met[event] = met.get(event, 0) + 1
            if result.delays.get(event) is None:
                result.delays[event] = met[event] if flagged else None
        order = random.permutation(len(frame))
        if choose == "method":
            order = order[np.argsort(-said.wanted[order], kind="stable")]
        shown = np.zeros(len(frame), dtype=bool)
        shown[order[:budget]] = True
        contestant.learn(frame, vectors[at], shown)
        seconds = time.perf_counter() - started
        grouping.add(frame, vectors[at], called, said.perhaps, truth, known)
        labelled |= {event for event, bought in zip(truth, shown, strict=True) if bought}
        result.days.append(
            StreamDay(
                day=str(day),
                messages=len(frame),
                right=int(right.sum()),
                known=int(known.sum()),
                right_known=int((right & known).sum()),
                false_alarms=int((called & known).sum()),
                new=int((~known).sum()),
                found_new=int((called & ~known).sum()),
                labels=int(shown.sum()),
                seconds=seconds,
            )
        )
        result.right += right.tolist()
        watch(name, result.days[-1])
    result.groups, result.purity = grouping.events, grouping.purity
    return result
