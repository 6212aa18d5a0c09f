"""What the graph baselines share: one sampled graph, a layered network, a linear classifier."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus, Ints
from eventide.graphs.sampled.edge_blocks import Floats
from eventide.losses.loss_inputs import Loss
from eventide.losses.terms import Term
from eventide.methods.trained import TrainedMethod, cross_entropy_objective
from eventide.networks.initialisation import Noise
from eventide.networks.sampled_networks import LayeredNetwork
from eventide.runners.sampled_runner import VIEW, SampledRunner
from eventide.training.batches import Sampler
from eventide.training.objectives.objective import Objective
from eventide.training.objectives.output_readers import CentroidReader, Position, unmoved
from eventide.training.phases import Phase

SAMPLED = "at most {settings.graph.sampled_neighbours} sampled neighbours a message"
"""What every row of results says of these methods."""

HEAD_RATE = 0.1
"""Learning rate of a linear head on frozen vectors: convex, and some methods' vectors are short.
Chosen between 0.01 and 0.1 on validation messages of crisislex-t7."""


class SampledGraphMethod(TrainedMethod[LayeredNetwork, SampledRunner]):
    """A method gives its layers, its phases, and what weighs the edges."""

    note: ClassVar[str] = SAMPLED

    def make_layers(
        self, corpus: Corpus, generator: torch.Generator
    ) -> tuple[list[nn.Module], int]:
        """Return the layers with their initialisation, and the length of an embedding."""
        raise NotImplementedError

    def inputs(self, corpus: Corpus) -> Tensor:
        """Return what the first layer reads [n, width]: the vectors of the messages."""
        return torch.from_numpy(corpus.features)

    def memory_inputs(self, corpus: Corpus) -> Tensor:
        """Return the same for the memory, which has no source once it was saved."""
        return self.inputs(corpus)

    def weigh(self, readers: Corpus, rows: Ints, memory: Corpus, columns: Ints) -> Floats:
        """Return the constant weights [pairs, kinds] of edges; none by default."""
        return np.zeros((len(rows), 0), dtype=np.float32)

    def make_network(self, corpus: Corpus, classes: int) -> LayeredNetwork:
        """Return the layers and a linear classifier."""
        generator = torch.Generator().manual_seed(self.seed)
        layers, width = self.make_layers(corpus, generator)
        return LayeredNetwork(
            layers, width=width, classes=classes, generator=generator, noise=Noise(self.seed)
        )

    def make_runner(
        self, network: LayeredNetwork, corpus: Corpus, device: torch.device
    ) -> SampledRunner:
        """Sample the neighbours of every message."""
        return SampledRunner(
            network,
            corpus,
            self.memory_inputs(corpus),
            self.settings.network,
            device,
            cap=self.settings.graph.sampled_neighbours,
            seed=self.seed,
            weigh=self.weigh,
            new_inputs=self.inputs,
        )

    def encoder_phase(
        self,
        counts: Tensor,
        loss: Loss,
        width: int,
        position: Position = unmoved,
        sampler: Sampler | None = None,
    ) -> Phase:
        """Return the phase that trains the layers alone, read by the nearest centroid.

        ``width`` is the length of what ``position`` makes of an embedding.
        """
        reader = CentroidReader((VIEW,), len(counts), width, position)
        objective = Objective(counts, {"representation": Term(loss)}, reader, sampler)
        return Phase(objective, self.settings.training, trains="encoder")

    def head_phase(self, counts: Tensor) -> Phase:
        """Return the phase that fits the classifier on frozen vectors, by cross-entropy.

        It may take as many epochs again: the vectors are computed once, so they cost little.
        """
        changes = {"optimiser": "adam", "learning_rate": HEAD_RATE, "weight_decay": 0.0}
        settings = self.settings.training.model_copy(update=changes)
        return Phase(cross_entropy_objective(counts), settings, trains="classifier")
