"""Counts the edges of a view, and those within one event, without listing any.

An edge is an unordered pair of different messages that share an element of the view; a pair that
shares several elements is one edge. Purity is (edges within one event) / (edges between labelled
messages): edges with an unlabelled end are left out of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from eventide.graphs.exact.index_building import closed_bucket_index
from eventide.graphs.incidence import Incidence, Ints
from eventide.graphs.views import PAPER_VIEWS, View, incidence, union

# counting needs no sums, so more subsets and more direct pairs pay off than in training
COUNT_MOST = 9
COUNT_RARE = 30


@dataclass(frozen=True)
class EdgeCounts:
    """Numbers of edges of one view.

    ``edges`` are between any messages, ``labelled`` between messages with an event, ``same``
    between messages of one event.
    """

    view: str
    edges: int
    labelled: int
    same: int

    @property
    def purity(self) -> float | None:
        """Share of labelled edges inside one event; None where there are none."""
        return self.same / self.labelled if self.labelled else None


def count_edges(incidence: Incidence, events: Ints, view: str = "") -> EdgeCounts:
    """Count the edges of one incidence; ``events`` is each message's event index, -1 for none.

    >>> sets = Incidence.of([["a"], ["a", "b"], ["a", "b"], ["b"]])
    >>> count_edges(sets, np.array([0, 0, 1, -1]))
    EdgeCounts(view='', edges=5, labelled=3, same=1)
    """
    known = np.flatnonzero(events >= 0)
    labelled, same = _pairs(incidence.take(known), events[known])
    everything = labelled
    if len(known) < len(incidence):
        everything, _ = _pairs(incidence, np.zeros(len(incidence), dtype=np.int64))
    return EdgeCounts(view, everything, labelled, same)


def edge_counts(
    messages: pl.DataFrame, views: Sequence[View] = PAPER_VIEWS, union_name: str = "all"
) -> list[EdgeCounts]:
    """Count the edges of each view and, if there are several, of their union.

    >>> frame = pl.DataFrame({"event": ["x", "x", "y"], "tags": [["a"], ["a"], ["a"]]})
    >>> edge_counts(frame, [View("tag", ("tags",))])[0].purity
    0.3333333333333333
    """
    events = messages.get_column("event").cast(pl.String)
    event_index = events.rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
    wanted = [*views, union(views, union_name)] if len(views) > 1 else list(views)
    return [count_edges(incidence(messages, view), event_index, view.name) for view in wanted]


def _pairs(incidence: Incidence, events: Ints) -> tuple[int, int]:
    """Unordered pairs of neighbours, and those of them with equal ``events``.

    The bucket index counts neighbours by time; here the event is passed as the time.
    """
    if len(incidence) == 0:
        return 0, 0
    bucket_index = closed_bucket_index(incidence, events, COUNT_MOST, COUNT_RARE)
    counts = bucket_index.readers.reads.counts
    width = int(events.max()) + 1
    owner = np.repeat(np.arange(len(counts.pointers) - 1), np.diff(counts.pointers))
    codes = owner * width + counts.times
    index = np.searchsorted(codes, bucket_index.readers.profile * width + events)
    same = int(counts.values[index].sum())  # a message is its own neighbour, so each code exists
    return (bucket_index.edges - len(incidence)) // 2, (same - len(incidence)) // 2
