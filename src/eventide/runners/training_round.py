"""Messages that share one run of the hidden layers: the steps of a round, or an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from eventide.corpus.corpus import Ints
from eventide.graphs.neighbourhood_protocol import SharingNeighbourhood
from eventide.networks.hidden_round import HiddenRound
from eventide.networks.multi_view import MultiViewNetwork, ViewOutput
from eventide.runners.runner import Outputs
from eventide.runtime.own_process import give_back_memory

AT_ONCE = 16_384
"""Messages whose last layer is evaluated at a time."""


class Round:
    """The hidden states that some steps of training read, all of them around ``rows`` alone.

    Views whose hidden layers would take more than the ``budget`` in bytes, all together, are run
    again for their gradient; but not the largest.
    """

    def __init__(
        self,
        network: MultiViewNetwork,
        features: Tensor,
        graphs: Mapping[str, SharingNeighbourhood],
        rows: Ints,
        budget: int,
    ) -> None:
        width = max(network.settings.layers) * features.element_size()
        sizes = {view: each.kept_rows() * width for view, each in graphs.items()}
        views = sorted(sizes, key=lambda view: -sizes[view])
        kept = views if sum(sizes.values()) <= budget else views[:1]
        self._hidden = HiddenRound(network, features, graphs, kept)
        self._shared = {}
        for view, states in self._hidden.run():
            self._shared[view] = graphs[view].share(states, rows)
            del states  # before those of the next view come
        give_back_memory()
        self._anchor = torch.zeros((), device=features.device, requires_grad=True)

    def read(
        self, rows: Ints, *, last: bool
    ) -> dict[str, tuple[Tensor, Callable[[Tensor], Tensor]]]:
        """Return the hidden states of ``rows``, view by view, and how to average around them.

        The backward pass of the ``last`` step gives the hidden layers their gradient.
        """
        source = self._hidden.source(self._total) if last else self._anchor
        return {view: each.read(rows, source) for view, each in self._shared.items()}

    def _total(self, view: str) -> Tensor:
        for each in self._shared.values():  # nobody will read again
            each.close()
        total = self._shared.pop(view).total()
        give_back_memory()
        return total


@torch.no_grad()
def evaluated(
    network: MultiViewNetwork,
    features: Tensor,
    graphs: Mapping[str, SharingNeighbourhood],
    rows: Ints,
) -> Outputs:
    """Run many messages, a view after the other, the last layer some of them at a time."""
    outputs = {}
    for view, states in HiddenRound(network, features, graphs).run():
        give_back_memory()
        outputs[view] = _view_output(network, view, graphs[view], states, rows)
        del states  # before those of the next view come
        give_back_memory()
    return outputs


def _view_output(
    network: MultiViewNetwork, view: str, graph: SharingNeighbourhood, states: Tensor, rows: Ints
) -> ViewOutput:
    """Run the last layer and the head of a view, given the hidden states of all messages."""
    encoder = network.encoder
    # The schedules of all messages are at hand: reading all beats planning for some.
    averages = graph.average(states, encoder.last_rates(states))
    # In order, the place of an embedding holds no average that is still to be read.
    in_order = encoder.width == averages.shape[1] and bool((np.diff(rows) > 0).all())
    whole = averages[: len(rows)] if in_order else averages.new_empty(len(rows), encoder.width)

    def output(some: Ints) -> ViewOutput:
        return network.output_of(view, encoder.last(states[some], lambda _: averages[some]))

    return _together(map(output, _parts(rows)), whole)


def _parts(rows: Ints) -> list[Ints]:
    return np.split(rows, range(AT_ONCE, len(rows), AT_ONCE))


def _together(parts: Iterator[ViewOutput], embeddings: Tensor) -> ViewOutput:
    """Put the outputs of all parts into one, whose ``embeddings`` are to be written."""
    whole: ViewOutput | None = None
    done = 0
    for part in parts:
        if whole is None:
            logits = part.logits.new_empty(len(embeddings), part.logits.shape[1])
            whole = ViewOutput(embeddings, logits, part.settings, part.prototypes)
        end = done + len(part.logits)
        whole.embeddings[done:end], whole.logits[done:end] = part.embeddings, part.logits
        done = end
    if whole is None:
        raise AssertionError("there is at least one part")
    return whole
