"""The labelled messages that others are compared with, to tell known events from new ones."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from eventide.arrays import appended, unit_rows
from eventide.corpus.corpus import Corpus, Ints
from eventide.graphs.keys import KeyIndex
from eventide.novelty.event_times import EventTimes

Floats = NDArray[np.float64]
NEAREST = 10
"""Nearest labelled messages that are read."""
MOST = 20_000
"""Labelled messages that vectors are compared with; of more, every n-th of each event."""
CHUNK = 1024
"""Messages that are compared at a time: no array grows with messages times messages."""


@dataclass(frozen=True)
class Elements:
    """The elements of labelled messages in one view, and how many messages of each class have them.

    ``counts`` is [elements, classes].
    """

    index: KeyIndex
    counts: scipy.sparse.csr_array
    total: Ints


@dataclass(frozen=True)
class Comparison:
    """How n messages compare with the labelled ones, class by class, so that a class can be hidden.

    ``nearest`` [n, C, NEAREST] are the largest cosines with messages of each class, falling; -1
    where a class has no more. ``centroid`` [n, C] are cosines with the class centroids.
    ``unknown`` [n] counts elements that no labelled message has, ``elements`` [n] all of them, and
    ``own`` [n, C] those that labelled messages of one class alone have. ``when`` [n, C] is the log
    density of each class's labelled messages at the time of a message; 0 where it has no time.
    """

    nearest: NDArray[np.float32]
    centroid: Floats
    elements: Ints
    unknown: Ints
    own: Ints
    when: Floats


class Reference:
    """Vectors and elements of the labelled messages of a memory; ``labels`` [N] are -1 elsewhere.

    >>> import numpy as np
    >>> vectors, none = np.eye(3, dtype=np.float32), np.array([])
    >>> corpus = Corpus(vectors, np.zeros(3, dtype=np.int64), {}, none, none, none)
    >>> found = Reference(corpus, np.array([0, 1, -1]), classes=2).compare(corpus)
    >>> found.centroid.argmax(axis=1)[:2].tolist(), found.nearest[:, 0, 0].tolist()
    ([0, 1], [1.0, 0.0, 0.0])
    """

    def __init__(self, memory: Corpus, labels: Ints, classes: int) -> None:
        self.memory, self.labels, self.classes = memory, labels, classes
        self.rows = np.flatnonzero(labels >= 0)

    def joined(self, memory: Corpus) -> Reference:
        """Return the same beside a memory that has grown by messages without a label."""
        other = copy(self)
        more = np.full(len(memory) - len(self.memory), -1, dtype=np.int64)
        other.memory, other.labels = memory, appended(self.labels, more)
        return other

    @cached_property
    def _by_class(self) -> list[NDArray[np.float32]]:
        """Unit vectors of each class, thinned out where there are very many messages."""
        step = max(1, -(-len(self.rows) // MOST))
        own = [np.flatnonzero(self.labels == each)[::step] for each in range(self.classes)]
        return [unit_rows(self.memory.features[rows].astype(np.float32)) for rows in own]

    @cached_property
    def centroids(self) -> NDArray[np.float32]:
        """Mean unit vector of each class, of unit length [C, width]."""
        width = self.memory.features.shape[1]
        means = [each.mean(axis=0) if len(each) else np.zeros(width) for each in self._by_class]
        return unit_rows(np.asarray(means, dtype=np.float32))

    @cached_property
    def _elements(self) -> dict[str, Elements]:
        found = {}
        for view, incidence in self.memory.incidences.items():
            own = incidence.take(self.rows).compact()
            label = self.labels[self.rows][own.rows]
            shape = (len(own.keys), self.classes)
            ones = np.ones(len(label), dtype=np.int64)
            counts = scipy.sparse.csr_array((ones, (own.elements, label)), shape=shape)
            found[view] = Elements(KeyIndex(own.keys), counts, np.asarray(counts.sum(axis=1)))
        return found

    def compare(self, corpus: Corpus, vectors: NDArray[np.float32] | None = None) -> Comparison:
        """Compare messages with the labelled ones, each by itself.

        ``vectors`` are their features in rows of unit length, where somebody has them already.
        """
        if vectors is None:
            vectors = unit_rows(corpus.features)
        parts = [
            self._vectors(vectors[start : start + CHUNK])
            for start in range(0, max(len(corpus), 1), CHUNK)
        ]
        elements, unknown, own = self._counted(corpus)
        return Comparison(
            np.concatenate([nearest for nearest, _ in parts]),
            np.concatenate([centroid for _, centroid in parts]),
            elements,
            unknown,
            own,
            self._when(corpus),
        )

    def _vectors(self, vectors: NDArray[np.float32]) -> tuple[NDArray[np.float32], Floats]:
        nearest = np.full((len(vectors), self.classes, NEAREST), -1, dtype=np.float32)
        for each, known in enumerate(self._by_class):
            cosines = vectors @ known.T
            if cosines.shape[1] > NEAREST:
                cosines = -np.partition(-cosines, NEAREST - 1, axis=1)[:, :NEAREST]
            nearest[:, each, : cosines.shape[1]] = -np.sort(-cosines, axis=1)
        return nearest, (vectors @ self.centroids.T).astype(np.float64)

    @cached_property
    def _event_times(self) -> EventTimes:
        return EventTimes(self.memory.times[self.rows], self.labels[self.rows], self.classes)

    def _when(self, corpus: Corpus) -> Floats:
        if not corpus.timed or not len(self.rows):
            return np.zeros((len(corpus), self.classes))
        # The clock stands still after the memory's latest: a model that nobody has updated for
        # weeks must not take every event for a thing of the past.
        return self._event_times.log_density(np.minimum(corpus.times, self.memory.times.max()))

    def _counted(self, corpus: Corpus) -> tuple[Ints, Ints, Ints]:
        elements = np.zeros(len(corpus), dtype=np.int64)
        unknown, own = elements.copy(), np.zeros((len(corpus), self.classes), dtype=np.int64)
        for view, known in self._elements.items():
            incidence = corpus.incidences[view].compact()
            found = known.index.find(incidence.keys)[incidence.elements]
            rows = incidence.rows
            elements += incidence.degrees
            unknown += np.bincount(rows[found < 0], minlength=len(corpus))
            met, readers = found[found >= 0], rows[found >= 0]
            counts = known.counts[met].tocoo()
            alone = counts.data == known.total[met][counts.row]
            np.add.at(own, (readers[counts.row[alone]], counts.col[alone]), 1)
        return elements, unknown, own
