"""A multi-view network bound to the exact graph of its messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.arrays import appended
from eventide.corpus.corpus import Corpus, Ints
from eventide.graphs.exact.lookup import MemorySums
from eventide.graphs.graph_set import Found, GraphSet
from eventide.graphs.growing_memory import SegmentSums, in_segments
from eventide.graphs.neighbourhood_protocol import SharingNeighbourhood
from eventide.graphs.settings import GraphSettings
from eventide.networks.multi_view import MultiViewNetwork
from eventide.runners.runner import (
    NOBODY,
    Arrays,
    Outputs,
    check_half_precision,
    checked_states,
    leave_training,
)
from eventide.runners.training_round import AT_ONCE, Round, evaluated
from eventide.runtime.lazy import Lazy

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class NewMessages:
    """New messages beside the memory: prepared ``features``, and what they read, view by view."""

    features: Tensor
    lookups: dict[str, Found]


class GraphRunner:
    """The graph of a corpus and the multi-view network that runs on it.

    The graph is built when rows of it are first asked for. New messages do without it: they read
    the memory's features and its hidden states, which a saved model keeps.
    """

    def __init__(
        self,
        network: MultiViewNetwork,
        corpus: Corpus,
        graph: GraphSettings,
        device: torch.device,
        *,
        mixed_precision: bool = False,
        gaps: Sequence[int | None] = (None,),
    ) -> None:
        if mixed_precision:
            check_half_precision(device)
        self.network = network.to(device).eval()
        self.device = device
        self._set = GraphSet(corpus.incidences, corpus.times, graph)
        self._mixed = mixed_precision
        self._gaps = tuple(gaps)
        self._rounds = 0
        self._round: Round | None = None
        self._budget = graph.memory_budget
        self._features = self._prepared(corpus)
        self._hidden = Lazy(self._run_memory)
        self._sums = Lazy(self._sum_memory)

    @property
    def _graphs(self) -> Mapping[str, SharingNeighbourhood]:
        return self._set.neighbourhoods

    @cached_property
    def _graphs_by_gap(self) -> dict[int | None, Mapping[str, SharingNeighbourhood]]:
        return {gap: self._graphs if gap is None else self._set.earlier(gap) for gap in self._gaps}

    def learn(self, rows: Ints, *, ahead: Ints = NOBODY) -> Outputs:
        """Run rows of the graph in training mode, with gradients.

        The steps of a round share the hidden states of all messages: the layers below the last one
        get no gradient before its last step, and then the mean of all of the round.
        """
        self.network.train()
        self._drop_states()
        last = not len(ahead)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._mixed):
            if len(self.network.settings.layers) == 1 or (last and self._round is None):
                return self._forward(rows, self._graphs_by_gap[self._next_gap()])
            if self._round is None:
                self._round = Round(
                    self.network,
                    self._features,
                    self._graphs_by_gap[self._next_gap()],
                    np.concatenate([rows, ahead]),
                    self._budget,
                )
            outputs = self.network.forward_shared(self._round.read(rows, last=last))
        if last:
            self._round = None
        return outputs

    def _end_round(self) -> None:
        """Drop what the steps of a round share: training may have been stopped inside it."""
        self._rounds = 0
        self._round = None

    def _next_gap(self) -> int | None:
        """Return the gap of the next round: gaps take turns."""
        self._rounds += 1
        return self._gaps[(self._rounds - 1) % len(self._gaps)]

    @torch.no_grad()
    def evaluate(self, rows: Ints) -> Outputs:
        """Run rows of the graph in evaluation mode; the next step of training is a fresh one."""
        leave_training(self.network)
        self._end_round()
        if len(rows) > AT_ONCE and len(self.network.settings.layers) > 1:
            return evaluated(self.network, self._features, self._graphs, rows)
        return self._forward(rows)

    def look_up(self, corpus: Corpus) -> NewMessages:
        """Find the memory's neighbours of new messages, view by view."""
        lookups = self._set.look_up(corpus.incidences, corpus.times)
        return NewMessages(self._prepared(corpus), lookups)

    @torch.no_grad()
    def evaluate_new(self, found: NewMessages) -> Outputs:
        """Run new messages in evaluation mode: they read the memory and add nothing to it."""
        leave_training(self.network)
        return self.network.forward_new(found.features, self._sums.get(), found.lookups)

    def neighbours(self, rows: Ints) -> dict[str, Ints]:
        """Count the neighbours of rows of the graph, themselves left out."""
        return self._set.neighbours(rows)

    def neighbours_new(self, found: NewMessages) -> dict[str, Ints]:
        """Count the neighbours that new messages have in the memory."""
        return {view: each.neighbours for view, each in found.lookups.items()}

    @torch.no_grad()
    def rates(self, rows: Ints) -> dict[str, Floats]:
        """Return how fast attention decays with time around rows of the graph, view by view."""
        leave_training(self.network)
        states = self.network.memory(self._features, self._graphs)
        encoder = self.network.encoder
        return {view: _numpy(encoder.last_rates(each[-1][rows])) for view, each in states.items()}

    @torch.no_grad()
    def rates_new(self, found: NewMessages) -> dict[str, Floats]:
        """Return how fast attention decays with time around new messages, view by view."""
        leave_training(self.network)
        encoder, states, features = self.network.encoder, self._sums.get(), found.features
        return {
            view: _numpy(encoder.last_rates(encoder.hidden_new(features, states[view], each)))
            for view, each in found.lookups.items()
        }

    def rest(self) -> None:
        """End training: evaluation mode, and nothing kept that older weights computed."""
        leave_training(self.network)
        self._end_round()
        self._drop_states()

    def memory_states(self) -> Arrays:
        """Return the hidden states of the memory, layer by layer and view by view.

        A message without elements in a view is nobody's neighbour there: its state is left out.
        """
        return {
            _state_name(layer, view): each.cpu().numpy()[self._set.connected(view)]
            for view, layers in self._hidden.get().items()
            for layer, each in enumerate(layers, start=1)
        }

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what ``memory_states`` returned, for the same weights and the same memory."""
        widths = dict(enumerate(self.network.settings.layers[:-1], start=1))
        states = checked_states(
            arrays,
            {
                _state_name(layer, view): self._set.connected(view)
                for view in self.network.views
                for layer in widths
            },
        )
        hidden = {
            view: [states[_state_name(layer, view)].to(self.device) for layer in widths]
            for view in self.network.views
        }
        if any(
            each.shape[1] != width
            for layers in hidden.values()
            for each, width in zip(layers, widths.values(), strict=True)
        ):
            raise ValueError("the stored states are not as wide as the network's layers")
        self._drop_states()
        self._hidden.put(hidden)

    @torch.no_grad()
    def joined(self, corpus: Corpus, fresh: Corpus) -> GraphRunner:
        """Return the network beside ``corpus``: this memory and, after it, ``fresh`` messages.

        Messages must read earlier ones alone, and ``fresh`` be in order of time, none earlier than
        the memory's last. No state of the memory changes then; those of ``fresh`` are computed day
        by day, each once. This runner stays as it is.
        """
        leave_training(self.network)
        features, hidden = self._features, dict(self._hidden.get())
        memories = self._set.growing()
        sums = {
            view: [in_segments(memories[view], each) for each in layers]
            for view, layers in self._sums.get().items()
        }
        starts = np.flatnonzero(np.diff(fresh.times, prepend=fresh.times[:1] - 1))
        for start, end in zip(starts, np.append(starts[1:], len(fresh)), strict=True):
            day = fresh.take(np.arange(start, end))
            own = self._prepared(day)
            features = _grown(features, own)
            for view, incidence in day.incidences.items():
                lookup = memories[view].lookup(incidence, day.times)
                states = self.network.encoder.states_new(own, sums[view], lookup)
                hidden[view] = [
                    _grown(old, new) for old, new in zip(hidden[view], states, strict=True)
                ]
                memories[view] = memories[view].joined(incidence.compact(), day.times)
                sums[view] = [
                    memories[view].sums(values, older)
                    for values, older in zip((features, *hidden[view]), sums[view], strict=True)
                ]
        other = copy(self)
        other._set = self._set.joined(corpus.incidences, corpus.times, memories)
        other._features = features
        other.__dict__.pop("_graphs_by_gap", None)
        other._hidden, other._sums = Lazy(other._run_memory), Lazy(other._sum_memory)
        other._hidden.put(hidden)
        other._sums.put({view: list(each) for view, each in sums.items()})
        return other

    def memory_layers(self) -> dict[str, list[Tensor]]:
        """Return what new messages read of the memory, view by view: features, hidden states."""
        return {view: [self._features, *hidden] for view, hidden in self._hidden.get().items()}

    def read_from(self, memories: Mapping[str, Any], layers: Mapping[str, Any]) -> None:
        """Let new messages read ``memories`` that lie elsewhere, and these for their ``layers``.

        A memory has ``lookup``; what it finds has ``average`` and ``neighbours``.
        """
        self._set.read_from(memories)
        self._sums.put(dict(layers))

    def read_own(self) -> None:
        """Let new messages read the memory that is here again."""
        self._set.read_own()
        self._sums.drop()

    def _drop_states(self) -> None:
        self._hidden.drop()
        self._sums.drop()

    @torch.no_grad()
    def _run_memory(self) -> dict[str, list[Tensor]]:
        """Run the memory through every layer but the last: a pass over all its messages."""
        if len(self.network.settings.layers) == 1:
            return {view: [] for view in self.network.views}
        states = self.network.memory(self._features, self._graphs)
        return {view: hidden for view, (_, *hidden) in states.items()}

    @torch.no_grad()
    def _sum_memory(self) -> dict[str, list[MemorySums | SegmentSums]]:
        """Sum what new messages read of the memory: its features, and its hidden states."""
        memories = self._set.memories
        return {
            view: [memories[view].sums(each) for each in (self._features, *hidden)]
            for view, hidden in self._hidden.get().items()
        }

    def _forward(
        self, rows: Ints, graphs: Mapping[str, SharingNeighbourhood] | None = None
    ) -> Outputs:
        wanted = torch.from_numpy(rows).to(self.device)
        outputs: Outputs = self.network(self._features, graphs or self._graphs, wanted)
        return outputs

    def _prepared(self, corpus: Corpus) -> Tensor:
        return self.network.encoder.prepare(torch.from_numpy(corpus.features).to(self.device))


def _grown(values: Tensor, more: Tensor) -> Tensor:
    """Return rows and, after them, more; on the CPU nothing is copied but these."""
    if values.device.type != "cpu":
        return torch.cat([values, more])
    return torch.from_numpy(appended(values.numpy(), more.numpy()))


def _numpy(tensor: Tensor) -> Floats:
    array: Floats = tensor.cpu().numpy()
    return array


def _state_name(layer: int, view: str) -> str:
    return f"layer{layer}.{view}"
