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
from eventide.graphs.exact.shared_states import PooledStates
from eventide.graphs.memory import Memory
from eventide.graphs.neighbourhood import BucketedNeighbourhood
from eventide.networks.encoder import LayerReads
from eventide.networks.initialisation import MaskRows
from eventide.networks.multi_view import ViewOutput
from eventide.runners.graph_runner import GraphRunner, NewMessages
from eventide.runners.runner import NOBODY, Outputs, leave_training
from eventide.runtime.share import Share, current_share
from eventide.tensors import widen

CHUNK = 4_096
"""Messages of all workers that are evaluated at a time: so many read their sums together."""


class ViewShare:
    """One view of a worker's own messages: their part of every bucket, and what they read."""

    def __init__(self, around: BucketedNeighbourhood, features: Tensor, share: Share) -> None:
        self._around, self._share, self._device = around, share, features.device
        self._index = around.bucket_index
        own = share.own(np.arange(len(around), dtype=np.int64))
        self._members = self._index.members[:, own].tocsr()
        self.first = _first_layer(self._index, own, features, around.memory_budget)

    def reads(self, rows: Ints) -> BatchShare:
        """Return what ``rows`` of all workers read, and this worker's part of it."""
        readers, buckets = self._index.readers.only(rows)
        singles = np.unique(readers.reads.direct.messages)
        readers = readers.among(singles)
        mine, held = self._share.owns(rows), self._share.owns(singles)
        return BatchShare(
            share=self._share,
            members=FixedMatrix(self._members[buckets]),
            single_rows=self._tensor(np.flatnonzero(held)),
            single_places=self._tensor(self._share.places(singles[held])),
            singles=len(singles),
            own=self._tensor(self._share.places(rows[mine])),
            schedules=GatherSchedules(readers.take(np.flatnonzero(mine)), self._device),
        )

    def masks(self, rows: Ints, layers: int) -> list[MaskRows]:
        """Say where own messages lie in the masks that one process draws for ``rows``.

        A mask for each of ``layers`` hidden layers, the first first. One process runs a hidden
        layer for whom the next one averages over, and draws a row of its mask for each of these.
        """
        found: list[MaskRows] = []
        for _ in range(layers):
            rows = self._around.around(torch.from_numpy(rows)).sources.numpy()
            mine = np.flatnonzero(self._share.owns(rows))
            places = self._tensor(self._share.places(rows[mine]))
            found.insert(0, MaskRows(len(rows), places, self._tensor(mine)))
        return found

    def _tensor(self, index: Ints) -> Tensor:
        return torch.from_numpy(index).to(self._device)


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
        with torch.autocast(states.device.type, enabled=False):  # as everywhere in the graph
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
        gaps: Sequence[int | None] = (None,),
    ) -> None:
        if given[2].earlier_only or tuple(gaps) != (None,):
            raise BadSetting(
                "several workers train without training.gaps and graph.earlier_only",
                next_step="leave them as they are, or train with one worker",
            )
        super().__init__(*given, mixed_precision=mixed_precision)
        self.share = current_share()
        self._pooled: dict[str, PooledStates] = {}
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
        return self._features[torch.from_numpy(self._rows).to(self.device)]

    def learn(self, rows: Ints, *, ahead: Ints = NOBODY) -> Outputs:
        """Run a batch of all workers in training mode: own rows here, the others' by theirs."""
        last = not len(ahead)
        self.network.train()
        self._drop_states()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._mixed):
            if len(self.network.settings.layers) == 1 or (last and not self._pooled):
                own = self._run(rows)
            else:
                own = self._run_shared(rows, last)
        return {view: self._together(each, rows) for view, each in own.items()}

    def _run_shared(self, rows: Ints, last: bool) -> Outputs:
        """Return the outputs of own ones among ``rows``, whose round shares hidden states."""
        if not self._pooled:
            hidden = range(len(self.network.settings.layers) - 1)
            self._pooled = {
                view: PooledStates(
                    self.network.encoder.hidden_read(
                        self._own_features,
                        self._reads(view, rows)[:-1],
                        [self._whole_mask for _ in hidden],
                    )
                )
                for view in self.network.views
            }
        outputs: Outputs = {}
        for view, pooled in self._pooled.items():
            own, average = self._reads(view, rows)[-1](pooled.read(last=last))
            embeddings = self.network.encoder.last(own, average)
            outputs[view] = self.network.output_of(view, embeddings, self._head_mask(rows))
        if last:
            self._pooled = {}
        return outputs

    @cached_property
    def _whole_mask(self) -> MaskRows:
        """Where own messages lie in a dropout mask of all messages."""
        places = torch.from_numpy(self._rows).to(self.device)
        return MaskRows(len(self._times), torch.arange(len(places), device=self.device), places)

    @torch.no_grad()
    def evaluate(self, rows: Ints) -> Outputs:
        """Run ``rows`` of all workers in evaluation mode; the outputs are of own ones."""
        leave_training(self.network)
        self._end_round()
        return self._run(rows)

    def _end_round(self) -> None:
        """Drop what the steps of a round share, of this worker too."""
        super()._end_round()
        self._pooled = {}

    def look_up(self, corpus: Corpus) -> NewMessages:
        """Find the neighbours of new messages among own ones, view by view."""
        lookups = {
            view: SharedLookup(
                each.lookup(corpus.incidences[view], corpus.times), self.share, self.device
            )
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
        outputs: Outputs = {}
        for view in self.network.views:  # the order in which one process draws its masks
            masks = self._masks(view, rows)
            embeddings = self.network.encoder.forward_read(
                self._own_features, self._reads(view, rows), masks
            )
            outputs[view] = self.network.output_of(view, embeddings, self._head_mask(rows))
        return outputs

    def _masks(self, view: str, rows: Ints) -> list[MaskRows] | list[None]:
        """Say where the states of own messages lie in the dropout mask of each hidden layer."""
        hidden = len(self.network.settings.layers) - 1
        if not self.network.encoder.dropout.active:
            return [None] * hidden
        return self._shares[view].masks(rows, hidden)

    def _head_mask(self, rows: Ints) -> MaskRows:
        """Say where own ones among ``rows`` lie in the dropout mask of a head."""
        mine = torch.from_numpy(np.flatnonzero(self.share.owns(rows))).to(self.device)
        return MaskRows(len(rows), torch.arange(len(mine), device=self.device), mine)

    def _hidden_states(self, view: str) -> Iterator[Tensor]:
        """Yield what own messages have after every layer but the last."""
        everybody = np.arange(len(self._times), dtype=np.int64)
        for count in range(1, len(self.network.settings.layers)):
            reads = self._reads(view, everybody)[:count]
            yield self.network.encoder.hidden_read(self._own_features, reads, [None] * count)

    def _reads(self, view: str, rows: Ints) -> list[LayerReads]:
        """Say what each layer reads: all own messages, and in the last one ``rows`` alone."""
        layers, share = len(self.network.settings.layers), self._shares[view]
        own = torch.from_numpy(self.share.places(self.share.own(rows))).to(self.device)
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
        values = torch.cat([widen(own.embeddings), widen(own.logits)], dim=1)
        both = self.share.whole(values, rows)
        prototypes = None if own.prototypes is None else self.share.once(own.prototypes)
        return replace(
            own, embeddings=both[:, :width], logits=both[:, width:], prototypes=prototypes
        )


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

    def __init__(self, lookup: Any, share: Share, device: torch.device) -> None:
        self._lookup, self._share = lookup, share
        counted = torch.from_numpy(np.asarray(lookup.neighbours, dtype=np.int64)).to(device)
        #: how many memory messages each new one meets
        self.neighbours: Ints = share.sum(counted).cpu().numpy()

    def average(self, memory_values: MemorySums, own_values: Tensor, rates: Tensor) -> Tensor:
        """Average over the neighbours that all workers have, and oneself; no gradient."""
        part: Partial = self._lookup.partial(memory_values, rates)
        reference = self._share.largest(part.references)
        scale = torch.exp(-rates * (part.references - reference))[:, None]
        both = torch.cat([part.sums, part.weights[:, None]], dim=1) * scale
        total = self._share.sum(both)
        others = Partial(total[:, :-1], total[:, -1], reference)
        return merge([others, own_partial(own_values, rates)], rates).average()
