"""The graphs of a corpus, one for each view, built when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eventide.features.parallel import side_by_side
from eventide.graphs.exact.lookup import BatchLookup
from eventide.graphs.exact.small_batch_lookup import SmallBatchLookup
from eventide.graphs.growing_memory import GrowingMemory, SegmentLookup
from eventide.graphs.incidence import Incidence
from eventide.graphs.memory import Memory
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.graphs.settings import GraphSettings
from eventide.progress import track
from eventide.runtime.lazy import Lazy

Ints = NDArray[np.int64]
Built = TypeVar("Built")
MANY, MOST_AT_ONCE = 10_000, 200_000
"""Messages from which on all cores build and progress is shown; and up to which views are built
together: above, memory is scarcer than time."""
Found = BatchLookup | SmallBatchLookup | SegmentLookup
"""What new messages read of a memory."""


class GraphSet:
    """Messages of ``times`` [N] that are connected by the elements of each view's incidence.

    Training and predictions of these messages read ``neighbourhoods``. New messages read
    ``memories`` instead: a model that only assigns never builds the neighbourhoods.

    >>> from eventide.graphs.keys import element_keys
    >>> keys = element_keys("hashtags", ["flood", "fire"], b"salt")
    >>> tags = Incidence(np.array([0, 1, 2, 3]), np.array([0, 0, 1]), keys)
    >>> GraphSet({"tags": tags}, np.array([0, 1, 2]), GraphSettings()).neighbours(np.arange(3))
    {'tags': array([1, 1, 0])}
    """

    def __init__(
        self, incidences: Mapping[str, Incidence], times: Ints, settings: GraphSettings
    ) -> None:
        self._incidences = incidences
        self._times = times
        self._settings = settings
        self._neighbourhoods = Lazy(self._connect)
        self._memories = Lazy(self._remember)

    @property
    def neighbourhoods(self) -> dict[str, BucketedNeighbourhood]:
        """What each message averages over, view by view."""
        return self._neighbourhoods.get()

    @property
    def memories(self) -> dict[str, Memory | GrowingMemory]:
        """What new messages look up, view by view."""
        return self._memories.get()

    def read_from(self, memories: Mapping[str, Any]) -> None:
        """Let new messages look up ``memories`` that lie elsewhere, view by view."""
        self._memories.put(dict(memories))

    def read_own(self) -> None:
        """Let new messages look up these messages again."""
        self._memories.drop()

    def joined(
        self, incidences: Mapping[str, Incidence], times: Ints, memories: Mapping[str, Any]
    ) -> GraphSet:
        """Return the graphs of more messages, whose memories have grown out of these."""
        other = GraphSet(incidences, times, self._settings)
        other._memories.put(dict(memories))
        return other

    def growing(self) -> dict[str, GrowingMemory]:
        """Return memories that messages can join, view by view."""
        most = self._settings.wide_after
        return {
            view: each if isinstance(each, GrowingMemory) else GrowingMemory((each,), most)
            for view, each in self.memories.items()
        }

    def look_up(self, incidences: Mapping[str, Incidence], times: Ints) -> dict[str, Found]:
        """Find the neighbours of new messages among these, view by view."""
        memories = self.memories
        return {view: memories[view].lookup(each, times) for view, each in incidences.items()}

    def neighbours(self, rows: Ints) -> dict[str, Ints]:
        """Count the neighbours of these messages, themselves left out, view by view."""
        if self._causal:
            times = self._times[rows]
            some = {view: each.take(rows) for view, each in self._incidences.items()}
            return {view: each.neighbours for view, each in self.look_up(some, times).items()}
        return {
            view: each.bucket_index.neighbours[rows] for view, each in self.neighbourhoods.items()
        }

    def connected(self, view: str) -> NDArray[np.bool_]:
        """Say which messages have elements in a view [N]: the others are nobody's neighbours."""
        return self._incidences[view].degrees > 0

    def _connect(self) -> dict[str, BucketedNeighbourhood]:
        settings = self._settings
        whole = self._built(
            lambda each: BucketedNeighbourhood(
                each, self._times, settings.wide_after, memory_budget=settings.memory_budget
            ),
            "connecting",
        )
        return {view: each.earlier(0) for view, each in whole.items()} if self._causal else whole

    @property
    def _causal(self) -> bool:
        return self._settings.earlier_only

    def earlier(self, gap: int) -> dict[str, BucketedNeighbourhood]:
        """What each message averages over if all that is not ``gap`` older were not there."""
        return {view: each.earlier(gap) for view, each in self.neighbourhoods.items()}

    def _remember(self) -> dict[str, Memory | GrowingMemory]:
        gap = 0 if self._causal else None

        def build(each: Incidence) -> Memory | GrowingMemory:
            return Memory(each, self._times, self._settings.wide_after, gap)

        return self._built(build, "indexing")

    def _built(self, build: Callable[[Incidence], Built], doing: str) -> dict[str, Built]:
        """Build something of every view: on all cores, or one after the other where it is large."""
        views = list(self._incidences.values())
        if len(self._times) < MANY:  # neither a bar nor a thread is worth its time
            return dict(zip(self._incidences, map(build, views), strict=True))
        built = (side_by_side if len(self._times) <= MOST_AT_ONCE else map)(build, views)
        said = f"{doing} {len(self._times):,} messages, view by view"
        return dict(zip(self._incidences, track(built, said, total=len(views)), strict=True))
