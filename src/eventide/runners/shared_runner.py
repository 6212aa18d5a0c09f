"""A multi-view network on a share of the messages: workers train it together, exactly.

Each worker runs the layers of its own messages alone. Bucket sums are sums over messages, so that
the workers' parts add up to those of all; only what a batch reads is added up. No worker ever holds
the hidden states of all messages. Features and the bucket index are there on every worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.errors import BadSetting
from eventide.graphs.exact.attention import average_sums
from eventide.graphs.exact.bucket_index import BucketIndex
from eventide.graphs.exact.gather_schedule import GatherSchedules
from eventide.graphs.exact.kept_sums import (
    ConstantAverages,
    bucket_constant,
    profile_time_bytes,
    profile_time_constant,
)
from eventide.graphs.exact.lookup import MemorySums, Partial, merge, own_partial
from eventide.graphs.exact.products import FixedMatrix
from eventide.graphs.memory import Memory
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.networks.encoder import LayerReads
from eventide.networks.multi_view import ViewOutput
from eventide.runners.graph_runner import GraphRunner, NewMessages
from eventide.runners.runner import Outputs, leave_training
from eventide.runtime.share import Share, current_share

CHUNK = 4_096
"""Messages of all workers that are evaluated at a time: so many read their sums together."""


class ViewShare:
    """One view of a worker's own messages: their part of every bucket, and what they read."""

    def __init__(self, around: BucketedNeighbourhood, features: Tensor, share: Share) -> None:
        self._index, self._share = around.bucket_index, share
        own = share.own(np.arange(len(around), dtype=np.int64))
        self._members = self._index.members[:, own].tocsr()
        self.first = _first_layer(self._index, own, features, around.memory_budget)

    def reads(self, rows: Ints) -> BatchShare:
        """Return what ``rows`` of all workers read, and this worker's part of it."""
        readers, buckets = self._index.readers.only(rows)
        direct = readers.reads.direct
        singles, index = np.unique(direct.messages, return_inverse=True)
        reads = replace(readers.reads, direct=replace(direct, messages=index))
        readers = replace(readers, reads=reads, messages=len(singles))
        mine, held = self._share.owns(rows), self._share.owns(singles)
        return BatchShare(
            share=self._share,
            members=FixedMatrix(self._members[buckets]),
            single_rows=torch.from_numpy(np.flatnonzero(held)),
            single_places=torch.from_numpy(self._share.places(singles[held])),
            singles=len(singles),
            own=torch.from_numpy(self._share.places(rows[mine])),
            schedules=GatherSchedules(readers.take(np.flatnonzero(mine)), torch.device("cpu")),
        )


def _first_layer(index: BucketIndex, own: Ints, features: Tensor, budget: int) -> ConstantAverages:
    """Prepare the averages of the features around own messages: no other worker is asked."""
    readers, buckets = index.readers.only(own)
    mine = BucketIndex(index.members[buckets], readers)
    fits = profile_time_bytes(mine, features) <= budget
    prepare = profile_time_constant if fits else bucket_constant
    return prepare(mine, FixedMatrix(mine.members), features)


@dataclass(frozen=True, eq=False)
class BatchShare:
    """What some messages of all workers read, by a worker that owns some of them."""

    share: Share
    members: FixedMatrix
    single_rows: Tensor
    single_places: Tensor
    singles: int
    own: Tensor
    schedules: GatherSchedules

    def average(self, states: Tensor, rates: Tensor) -> Tensor:
        """Average around own messages, over the ``states`` [own, width] that each worker has."""
        sums = self.members.times(states)
        singles = states.new_zeros(self.singles, states.shape[1]).index_copy(
            0, self.single_rows, states[self.single_places]
        )
        both = self.share.total(torch.cat([sums, singles]))
        if not len(self.own):  # still part of the graph: the others wait for its gradient
            return both[:0]
        return average_sums(both[: len(sums)], both[len(sums) :], rates, self.schedules)


class SharedGraphRunner(GraphRunner):
    """A `GraphRunner` of one worker among several.

    ``learn`` takes a batch of all workers and returns all its outputs on each; ``evaluate`` returns
    those of own messages alone. All workers must call the same in the same order.
    """

    def __init__(
        self,
        *given: Any,
        mixed_precision: bool = False,
        refresh: int = 1,
        gaps: Sequence[int | None] = (None,),
    ) -> None:
        if mixed_precision or refresh != 1 or given[2].earlier_only or tuple(gaps) != (None,):
            raise BadSetting(
                "several workers train without training.mixed_precision, training.layer1_refresh, "
                "training.gaps and graph.earlier_only",
                next_step="leave them as they are, or train with one worker",
            )
        super().__init__(*given)
        if self.device.type != "cpu":
            raise BadSetting(
                f"several workers train on processors, not yet on {self.device}",
                next_step="set training.device=cpu, or train with one worker",
            )
        self.share = current_share()
        self.network.noise.worker = self.share.rank
        corpus: Corpus = given[1]
        self._rows = self.share.own(np.arange(len(corpus), dtype=np.int64))
        self._times, self._incidences = corpus.times, corpus.incidences
        self._most = given[2].wide_after

    @cached_property
    def _shares(self) -> dict[str, ViewShare]:
        around = self._set.neighbourhoods
        return {view: ViewShare(each, self._features, self.share) for view, each in around.items()}

    @cached_property
    def _own_features(self) -> Tensor:
        return self._features[torch.from_numpy(self._rows)]

    def learn(self, rows: Ints) -> Outputs:
        """Run a batch of all workers in training mode: own rows here, the others' by theirs."""
        self.network.train()
        self._drop_states()
        own = self._run(rows)
        return {view: self._together(each, rows) for view, each in own.items()}

    @torch.no_grad()
    def evaluate(self, rows: Ints) -> Outputs:
        """Run ``rows`` of all workers in evaluation mode; the outputs are of own ones."""
        leave_training(self.network)
        return self._run(rows)

    def look_up(self, corpus: Corpus) -> NewMessages:
        """Find the neighbours of new messages among own ones, view by view."""
        lookups = {
            view: SharedLookup(each.lookup(corpus.incidences[view], corpus.times), self.share)
            for view, each in self._own_memories.items()
        }
        return NewMessages(self._prepared(corpus), lookups)  # type: ignore[arg-type]

    @torch.no_grad()
    def evaluate_new(self, found: NewMessages) -> Outputs:
        """Run new messages, the same on every worker; each worker's memory is its share."""
        leave_training(self.network)
        states = {
            view: [memory.sums(each) for each in (self._own_features, *self._hidden_states(view))]
            for view, memory in self._own_memories.items()
        }
        return self.network.forward_new(found.features, states, found.lookups)

    @cached_property
    def _own_memories(self) -> dict[str, Memory]:
        return {
            view: Memory(each.take(self._rows).compact(), self._times[self._rows], self._most)
            for view, each in self._incidences.items()
        }

    def _run(self, rows: Ints) -> Outputs:
        """Return the outputs of own ones among ``rows``."""
        encoder = self.network.encoder
        return {
            view: self.network.output_of(
                view, encoder.forward_read(self._own_features, self._reads(view, rows))
            )
            for view in self.network.views
        }

    def _hidden_states(self, view: str) -> Iterator[Tensor]:
        """Yield what own messages have after every layer but the last."""
        everybody = np.arange(len(self._times), dtype=np.int64)
        for count in range(1, len(self.network.settings.layers)):
            reads = self._reads(view, everybody)[:count]
            yield self.network.encoder.hidden_read(self._own_features, reads)

    def _reads(self, view: str, rows: Ints) -> list[LayerReads]:
        """Say what each layer reads: all own messages, and in the last one ``rows`` alone."""
        layers, share = len(self.network.settings.layers), self._shares[view]
        own = torch.from_numpy(self.share.places(self.share.own(rows)))
        if layers == 1:
            some = partial(share.first.average, rows=own)
            return [lambda states: (states[own], some)]
        everybody = np.arange(len(self._times), dtype=np.int64)
        middle = [partial(_chunked, share, everybody)] * (layers - 2)
        return [
            lambda states: (states, share.first.average),
            *middle,
            partial(_chunked, share, rows),
        ]

    def _together(self, own: ViewOutput, rows: Ints) -> ViewOutput:
        width = own.embeddings.shape[1]
        both = self.share.whole(torch.cat([own.embeddings, own.logits], dim=1), rows)
        return replace(own, embeddings=both[:, :width], logits=both[:, width:])


def _chunked(share: ViewShare, rows: Ints, states: Tensor) -> tuple[Tensor, Any]:
    """Read ``rows`` of all workers, some at a time: their own states, and how to average."""
    parts = [share.reads(rows[start : start + CHUNK]) for start in range(0, len(rows), CHUNK)]
    own = torch.cat([each.own for each in parts])

    def average(rates: Tensor) -> Tensor:
        split = torch.split(rates, [len(each.own) for each in parts])
        return torch.cat(
            [each.average(states, some) for each, some in zip(parts, split, strict=True)]
        )

    return states[own], average


class SharedLookup:
    """New messages that read a memory of which each worker has a share."""

    def __init__(self, lookup: Any, share: Share) -> None:
        self._lookup, self._share = lookup, share
        counted = torch.from_numpy(np.asarray(lookup.neighbours, dtype=np.int64))
        #: how many memory messages each new one meets
        self.neighbours: Ints = share.sum(counted).numpy()

    def average(self, memory_values: MemorySums, own_values: Tensor, rates: Tensor) -> Tensor:
        """Average over the neighbours that all workers have, and oneself; no gradient."""
        part: Partial = self._lookup.partial(memory_values, rates)
        reference = self._share.largest(part.references)
        scale = torch.exp(-rates * (part.references - reference))[:, None]
        both = torch.cat([part.sums, part.weights[:, None]], dim=1) * scale
        total = self._share.sum(both)
        others = Partial(total[:, :-1], total[:, -1], reference)
        return merge([others, own_partial(own_values, rates)], rates).average()
