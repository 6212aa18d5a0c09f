"""TAM: margins for messages whose neighbourhoods are not those of their class.

Song et al., "TAM: Topology-aware margin loss for class-imbalanced node classification" (ICML
2022): cross-entropy of logits + log class size + margins, see ``losses/topology_margins.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import UNLABELLED, TrainingSet
from eventide.losses.classification import logit_adjusted
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.topology_margins import class_sharpness, topology_margins
from eventide.methods.trained import MultiViewMethod
from eventide.networks.multi_view import MultiViewNetwork, ViewOutput, fused_logits
from eventide.runners.graph_runner import GraphRunner, NewMessages
from eventide.runners.runner import NOBODY, Outputs
from eventide.training.objectives.objective import Objective

WARM_UP = 5
"""Epochs before margins come in."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginOutput(ViewOutput):
    """What a view says of a batch of training messages, and the messages' margins [B, C]."""

    margins: Tensor


class TopologyRunner(GraphRunner):
    """Sends margins along with what it learns; they are made anew at the start of each epoch.

    ``labels`` [N] are those of the training messages, -1 elsewhere.
    """

    labels: Tensor
    _margins: Tensor | None = None

    def learn(self, rows: Ints, *, ahead: Ints = NOBODY) -> Outputs:
        """Run rows of the graph in training mode, with gradients, beside their margins."""
        if self._margins is None:
            self._margins = self._look_around()
        margins = self._margins[torch.from_numpy(rows).to(self.device)]
        return {
            view: MarginOutput(
                each.embeddings, each.logits, each.settings, each.prototypes, margins=margins
            )
            for view, each in super().learn(rows, ahead=ahead).items()
        }

    def evaluate(self, rows: Ints) -> Outputs:
        """Run rows of the graph in evaluation mode, as is done when an epoch ends."""
        self._margins = None
        return super().evaluate(rows)

    def evaluate_new(self, found: NewMessages) -> Outputs:
        """Run new messages in evaluation mode, as is done when an epoch ends."""
        self._margins = None
        return super().evaluate_new(found)

    @torch.no_grad()
    def neighbour_shares(self) -> Tensor:
        """Return the shares of the classes around each message [N, C], its own included.

        A training message counts as its label, any other as its prediction. Views count alike.
        """
        logits = fused_logits(super().evaluate(np.arange(len(self.labels))))
        known = self.labels != UNLABELLED
        counts = torch.bincount(self.labels[known], minlength=logits.shape[1])
        said = (logits * class_sharpness(counts).to(logits.dtype)).softmax(dim=1)
        said[known] = functional.one_hot(self.labels[known], logits.shape[1]).to(said.dtype)
        everybody = torch.zeros(len(said), dtype=said.dtype, device=said.device)
        per_view = [each.average(said, everybody) for each in self._set.neighbourhoods.values()]
        return torch.stack(per_view).mean(dim=0)

    @torch.no_grad()
    def _look_around(self) -> Tensor:
        shares = self.neighbour_shares()
        known = self.labels != UNLABELLED
        margins = torch.zeros_like(shares)
        made = topology_margins(shares[known], self.labels[known], shares.shape[1])
        margins[known] = made.to(margins.dtype)
        return margins


def margined_error(inputs: LossInputs) -> Tensor:
    """Return the logit-adjusted cross-entropy of each message [B], with margins after warm-up."""
    logits = inputs.logits
    first = next(iter(inputs.outputs.values()))
    if inputs.epoch > WARM_UP and isinstance(first, MarginOutput):
        logits = logits + first.margins.to(logits.dtype)
    return logit_adjusted(logits, inputs.labels, inputs.statistics.counts)


class Tam(MultiViewMethod):
    """Balanced softmax with TAM's two margins on the fused logits, plus lambda3 * L_Common.

    [V] On balanced softmax (here ``logit_adjusted``, the same up to a constant), alpha 2.5, beta
    0.5, class-wise sharpness 1.2 with 0.4 by size, five epochs of warm-up, neighbours include the
    message itself. [C] The classes around a message are the mean over the views of its exact,
    unweighted neighbourhoods; margins are made once an epoch instead of every step, from the
    weights with which the epoch starts; alpha, beta and sharpness are the code's defaults and are
    not searched for.
    """

    _labels: Tensor | None = None

    def fit_inputs(self, network: MultiViewNetwork, training_set: TrainingSet) -> None:
        """Learn the scale of the features, and note the labels of the training messages."""
        super().fit_inputs(network, training_set)
        self._labels = torch.from_numpy(training_set.labels)

    def make_runner(
        self, network: MultiViewNetwork, corpus: Corpus, device: torch.device
    ) -> GraphRunner:
        """Connect the messages in every view; who trains also looks at the labels around."""
        runner = TopologyRunner(
            network,
            corpus,
            self.settings.graph,
            device,
            mixed_precision=self.settings.training.mixed_precision,
        )
        if self._labels is not None:
            runner.labels = self._labels.to(device)
        return runner

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return the cross-entropy with margins."""
        return self.classifying(network, counts, {"error": self.error_term(margined_error)})
