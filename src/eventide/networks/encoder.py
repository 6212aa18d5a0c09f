"""The encoder that all views share: layers of temporal attention, the last for wanted rows only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.graphs.neighbourhood_protocol import Lookup, Neighbourhood
from eventide.networks.initialisation import Dropout, MaskRows, Noise
from eventide.networks.settings import NetworkSettings
from eventide.networks.temporal_attention import Average, Projection, TemporalAttention
from eventide.tensors import unit_rows

LayerReads = Callable[[Tensor], tuple[Tensor, Average]]
"""From the states before a layer to those of the messages that it runs, and how these average."""


class SharedEncoder(nn.Module):
    """From features to embeddings in any view; equation `gnn_generic` with `eq_temGnn` inside.

    The last layer runs over the rows that are asked for, each one before it over those that the
    next one averages over. The linear maps of the first are computed once for all views.
    """

    feature_mean: Tensor
    feature_scale: Tensor

    def __init__(
        self, features: int, settings: NetworkSettings, *, generator: torch.Generator, noise: Noise
    ) -> None:
        super().__init__()
        widths = (features, *settings.layers)
        self.layers = nn.ModuleList(
            TemporalAttention(
                inputs,
                outputs,
                residual=settings.residual,
                time_decay=settings.time_decay,
                initial_rate=settings.initial_rate,
                generator=generator,
            )
            for inputs, outputs in pairwise(widths)
        )
        self.dropout = Dropout(settings.dropout, noise)
        self.settings = settings
        self.register_buffer("feature_mean", torch.zeros(features))
        self.register_buffer("feature_scale", torch.ones(features))

    @property
    def width(self) -> int:
        """Length of an embedding."""
        return self.settings.layers[-1]

    def fit_features(self, features: Tensor) -> None:
        """Learn the columns' mean and deviation that `standard` normalisation uses."""
        if self.settings.feature_normalisation == "standard":
            deviation = features.std(dim=0, correction=0)
            self.feature_mean.copy_(features.mean(dim=0))
            self.feature_scale.copy_(torch.where(deviation > 0, deviation, 1.0))

    def prepare(self, features: Tensor) -> Tensor:
        """Normalise raw features [n, features]; graphs and layers only ever see the result."""
        match self.settings.feature_normalisation:
            case "unit":
                return unit_rows(features)
            case "standard":
                return (features - self.feature_mean) / self.feature_scale
            case _:
                return features

    def project(self, features: Tensor) -> Projection:
        """Run the linear maps of the first layer, which all views share, for all messages."""
        return self._layers()[0].project(features)

    def forward(
        self,
        features: Tensor,
        graph: Neighbourhood,
        rows: Tensor | None = None,
        projected: Projection | None = None,
    ) -> Tensor:
        """Embed the messages ``rows`` (all by default) in one view: [rows, width].

        ``features`` [N, features] are the prepared features of all messages of ``graph``. Without
        what ``project`` makes of them, only whom the rows depend on is computed: good for a few.
        """
        if rows is not None:
            last = len(self.layers) - 1
            return self._finish(self._layer(last, features, graph, rows, projected))
        *hidden, top = self._layers()
        projected = projected or self.project(features)
        if not hidden:
            return self._finish(self._first(projected, graph))
        states = self._hidden(projected, graph)[-1]
        return self._finish(top(states, partial(graph.average, states)))

    def hidden(self, graph: Neighbourhood, projected: Projection) -> Tensor:
        """Run all messages through every layer but the last, given the first one's linear maps."""
        return self._hidden(projected, graph)[-1]

    def last(self, own: Tensor, average: Average) -> Tensor:
        """Run the last layer for messages with these hidden states: ``own`` [n, width]."""
        return self._finish(self._layers()[-1](own, average))

    def forward_read(
        self, features: Tensor, reads: Sequence[LayerReads], masks: Sequence[MaskRows | None]
    ) -> Tensor:
        """Embed messages whose layers read what ``reads`` says, one for each layer.

        ``masks`` say where the states after each layer but the last lie in its dropout mask.
        """
        return self.last(*reads[-1](self.hidden_read(features, reads[:-1], masks)))

    def hidden_read(
        self, features: Tensor, reads: Sequence[LayerReads], masks: Sequence[MaskRows | None]
    ) -> Tensor:
        """Run the first layers, one for each of ``reads`` and ``masks``."""
        states = features
        for layer, read, mask in zip(self._layers(), reads, masks, strict=False):
            own, average = read(states)
            states = self._between(layer(own, average), mask)
        return states

    def memory(
        self, features: Tensor, graph: Neighbourhood, projected: Projection | None = None
    ) -> list[Tensor]:
        """List the states that new messages will look up: the features, then each hidden layer."""
        return [features, *self._hidden(projected or self.project(features), graph)]

    def forward_new(self, features: Tensor, memory: Sequence[Any], lookup: Lookup) -> Tensor:
        """Embed new messages from their prepared ``features`` and the states of the ``memory``."""
        states = self.hidden_new(features, memory, lookup)
        last = self._layers()[-1]
        return self._finish(last(states, partial(lookup.average, memory[-1], states)))

    def hidden_new(self, features: Tensor, memory: Sequence[Any], lookup: Lookup) -> Tensor:
        """Run new messages through every layer but the last: what the last layer reads."""
        return [features, *self.states_new(features, memory, lookup)][-1]

    def states_new(self, features: Tensor, memory: Sequence[Any], lookup: Lookup) -> list[Tensor]:
        """List the states of new messages after every layer but the last."""
        states = [features]
        for layer, known in zip(self._layers()[:-1], memory[:-1], strict=True):
            average = partial(lookup.average, known, states[-1])
            states.append(self._between(layer(states[-1], average)))
        return states[1:]

    def last_rates(self, states: Tensor) -> Tensor:
        """Return how fast the last layer's attention decays with time, from what it reads [n]."""
        return self._layers()[-1].rates(states)

    def _hidden(self, projected: Projection, graph: Neighbourhood) -> list[Tensor]:
        """Run every layer but the last over all messages."""
        outputs: list[Tensor] = []
        for layer in self._layers()[:-1]:
            if outputs:
                updated = layer(outputs[-1], partial(graph.average, outputs[-1]))
            else:
                updated = self._first(projected, graph)
            outputs.append(self._between(updated))
        return outputs

    def _layer(
        self,
        number: int,
        features: Tensor,
        graph: Neighbourhood,
        rows: Tensor,
        projected: Projection | None,
    ) -> Tensor:
        """Run layer ``number`` for ``rows``, and those before it for whom they average over."""
        if number == 0 and projected is not None:
            return self._first(projected, graph, rows)
        near = graph.around(rows)
        if number == 0:
            some = self.project(features[near.sources])
            averages = near.average(some.values, some.rates[near.own])
            return some.plus_own(averages, near.own)
        states = self._layer(number - 1, features, graph, near.sources, projected)
        states = self._between(states)
        layer = self._layers()[number]
        return cast(Tensor, layer(states[near.own], partial(near.average, states)))

    @staticmethod
    def _first(projected: Projection, graph: Neighbourhood, rows: Tensor | None = None) -> Tensor:
        """Run the first layer: reading all by the plan at hand beats planning for some."""
        averages = graph.average(projected.values, projected.rates)
        return projected.plus_own(averages if rows is None else averages[rows], rows)

    def _layers(self) -> list[TemporalAttention]:
        return cast(list[TemporalAttention], list(self.layers))

    def _between(self, updated: Tensor, mask: MaskRows | None = None) -> Tensor:
        # In place: of a million messages each copy would take a gigabyte in every view.
        return cast(Tensor, self.dropout(functional.elu(updated, inplace=True), mask))

    def _finish(self, updated: Tensor) -> Tensor:
        return functional.elu(updated) if self.settings.final_activation == "elu" else updated
