"""A layered network on sampled neighbourhoods: it runs rows of the memory, or new messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.graphs.sampled.edge_blocks import Block, Floats, SampledGraph, outside_block
from eventide.graphs.sampled.neighbour_sampler import NeighbourSampler, joined
from eventide.networks.multi_view import ViewOutput
from eventide.networks.sampled_networks import LayeredNetwork
from eventide.networks.settings import NetworkSettings
from eventide.runners.runner import NOBODY, Arrays, Outputs, checked_states, leave_training
from eventide.runtime.lazy import Lazy

VIEW = "all"
"""The name of the one output: all views together."""
Weigh = Callable[[Corpus, Ints, Corpus, Ints], Floats]
"""Weights [pairs, kinds] of pairs: rows of one corpus, beside rows of the memory."""


@dataclass(frozen=True)
class SampledMessages:
    """New messages: their ``inputs`` [n, width], what they read of the memory, and how many."""

    inputs: Tensor
    block: Block
    known: Ints
    neighbours: Ints


class SampledRunner:
    """The union of the views of a corpus, at most ``cap`` neighbours a message, and a network.

    What a message reads is decided by its own text and the seed, never by who is asked about
    with it. New messages read the memory and themselves, and add nothing.
    """

    def __init__(
        self,
        network: LayeredNetwork,
        corpus: Corpus,
        inputs: Tensor,
        settings: NetworkSettings,
        device: torch.device,
        *,
        cap: int,
        seed: int,
        weigh: Weigh,
        new_inputs: Callable[[Corpus], Tensor],
    ) -> None:
        """``inputs`` [N, width] are what the first layer reads; ``new_inputs`` makes others'."""
        self.network = network.to(device).eval()
        self.device = device
        self._corpus = corpus
        self._inputs = inputs.to(device)
        self._settings = settings
        self._weigh = weigh
        self._new_inputs = new_inputs
        union = joined(corpus.incidences.values())
        self._readable = union.degrees > 0
        self._sampler = NeighbourSampler(union, corpus.ids, cap=cap, seed=seed)
        self._sampled = Lazy(self._sample_memory)
        self._states = Lazy(self._run_memory)
        self._hidden = Lazy(self._hidden_states)

    def learn(self, rows: Ints, *, ahead: Ints = NOBODY) -> Outputs:
        """Run rows of the graph in training mode; only what they can see is computed."""
        self.network.train()
        if self.network.encoder_frozen:
            return self._output(self._states.get()[-1][rows])
        self._drop_states()
        inputs, blocks = self.field(rows)
        return self._output(self.network.states(inputs, blocks))

    def field(self, rows: Ints) -> tuple[Tensor, list[Block]]:
        """Return the inputs that ``rows`` depend on, and the blocks of the layers in order."""
        blocks = []
        wanted = rows
        for _ in self.network.layers:
            block, wanted = self._graph.block(wanted)
            blocks.append(block)
        return self._inputs[torch.from_numpy(wanted)], blocks[::-1]

    @torch.no_grad()
    def evaluate(self, rows: Ints) -> Outputs:
        """Run rows of the graph in evaluation mode."""
        leave_training(self.network)
        return self._output(self._states.get()[-1][rows])

    def look_up(self, corpus: Corpus) -> SampledMessages:
        """Sample the neighbours that new messages have in the memory."""
        sample = self._sampler.outside(joined(corpus.incidences.values()), corpus.texts)
        kinds = self._weigh(corpus, sample.readers, self._corpus, sample.sources)
        block, known = outside_block(sample, kinds, self.device)
        return SampledMessages(
            self._new_inputs(corpus).to(self.device), block, known, sample.counts
        )

    @torch.no_grad()
    def evaluate_new(self, found: SampledMessages) -> Outputs:
        """Run new messages in evaluation mode: they read the memory and add nothing to it."""
        leave_training(self.network)
        own = found.inputs
        known = [self._inputs, *self._hidden.get()]
        for layer, memory in zip(self.network.layers, known, strict=True):
            own = layer(torch.cat([memory[found.known], own]), found.block)
        return self._output(own)

    def neighbours(self, rows: Ints) -> dict[str, Ints]:
        """Count the neighbours that rows of the graph read."""
        return {VIEW: self._graph.sample.counts[rows]}

    def neighbours_new(self, found: SampledMessages) -> dict[str, Ints]:
        """Count the neighbours that new messages read."""
        return {VIEW: found.neighbours}

    def rest(self) -> None:
        """End training: evaluation mode, and nothing kept that older weights computed."""
        leave_training(self.network)
        self._drop_states()

    def memory_states(self) -> Arrays:
        """Return the hidden states of the memory, layer by layer.

        A message without elements is nobody's neighbour: its state is left out.
        """
        return {
            f"layer{layer}": each.cpu().numpy()[self._readable]
            for layer, each in enumerate(self._hidden.get(), start=1)
        }

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what ``memory_states`` returned, for the same weights and the same memory."""
        names = [f"layer{number}" for number in range(1, len(self.network.layers))]
        states = checked_states(arrays, dict.fromkeys(names, self._readable))
        self._drop_states()
        self._hidden.put([states[name].to(self.device) for name in names])

    def _hidden_states(self) -> list[Tensor]:
        return self._states.get()[1:-1] if len(self.network.layers) > 1 else []

    def _drop_states(self) -> None:
        self._states.drop()
        self._hidden.drop()

    @property
    def _graph(self) -> SampledGraph:
        return self._sampled.get()

    def _sample_memory(self) -> SampledGraph:
        """Sample the neighbours of the memory's own messages: for training, and for its rows."""
        sample = self._sampler.inside(self._corpus.texts)
        kinds = self._weigh(self._corpus, sample.readers, self._corpus, sample.sources)
        return SampledGraph(sample, kinds, self.device)

    @torch.no_grad()
    def _run_memory(self) -> list[Tensor]:
        """The inputs of all messages, then their states after each layer."""
        states = [self._inputs]
        block, _ = self._graph.block(torch.arange(len(self._graph)).numpy())
        for layer in self.network.layers:
            states.append(layer(states[-1], block))
        return states

    def _output(self, embeddings: Tensor) -> Outputs:
        logits = self.network.classify(embeddings)
        return {VIEW: ViewOutput(embeddings, logits, self._settings)}
