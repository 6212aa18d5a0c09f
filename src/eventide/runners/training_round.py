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

AT_ONCE = 16_384
"""Messages whose last layer is evaluated at a time."""


class Round:
    """The hidden states that some steps of training read, all of them around ``rows`` alone.

    Above the ``budget`` in bytes the hidden layers are run again for their gradient.
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
        kept = sum(each.kept_rows() for each in graphs.values()) * width
        self._hidden = HiddenRound(network, features, graphs, keep=kept <= budget)
        self._shared = {
            view: graphs[view].share(states, rows) for view, states in self._hidden.run()
        }
        self._anchor = torch.zeros((), device=features.device, requires_grad=True)

    def read(
        self, rows: Ints, *, last: bool
    ) -> dict[str, tuple[Tensor, Callable[[Tensor], Tensor]]]:
        """Return the hidden states of ``rows``, view by view, and how to average around them.

        The backward pass of the ``last`` step gives the hidden layers their gradient.
        """
        totals = {view: each.total for view, each in self._shared.items()}
        source = self._hidden.source(totals) if last else self._anchor
        return {view: each.read(rows, source) for view, each in self._shared.items()}


@torch.no_grad()
def evaluated(
    network: MultiViewNetwork,
    features: Tensor,
    graphs: Mapping[str, SharingNeighbourhood],
    rows: Ints,
) -> Outputs:
    """Run many messages, a view after the other, the last layer some of them at a time."""
    hidden = HiddenRound(network, features, graphs, keep=False)
    anchor = torch.zeros((), device=features.device)
    outputs: Outputs = {}
    for view, states in hidden.run():
        shared = graphs[view].share(states, rows)
        del states
        parts = (
            network.output_of(view, network.encoder.last(*shared.read(some, anchor)))
            for some in _parts(rows)
        )
        outputs[view] = _together(parts, len(rows))
    return outputs


def _parts(rows: Ints) -> list[Ints]:
    return np.split(rows, range(AT_ONCE, len(rows), AT_ONCE))


def _together(parts: Iterator[ViewOutput], count: int) -> ViewOutput:
    """Put the outputs of all parts into one, without a second copy of them."""
    whole: ViewOutput | None = None
    done = 0
    for part in parts:
        if whole is None:
            embeddings, logits = (
                each.new_empty(count, each.shape[1]) for each in (part.embeddings, part.logits)
            )
            whole = ViewOutput(embeddings, logits, part.settings, part.prototypes)
        end = done + len(part.logits)
        whole.embeddings[done:end], whole.logits[done:end] = part.embeddings, part.logits
        done = end
    if whole is None:
        raise AssertionError("there is at least one part")
    return whole
