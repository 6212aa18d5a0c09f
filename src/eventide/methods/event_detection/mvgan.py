"""MVGAN: two graphs of the same messages, one by meaning and one by time, fused by hashtags.

Cui et al., "MVGAN: Multi-View Graph Attention Network for Social Event Detection" (ACM TIST 2021).
A RECONSTRUCTION: written from the abstract, without its text or code. [P] a semantic and a
temporal view, learned by graph networks, and an attention that fuses them in the light of
hashtags. [C] everything else: both views connect messages that share an element, neighbours
sampled; semantic edges weigh max(0, cosine of the vectors), temporal edges exp(-days apart), scaled
by row; two convolutions of 256 each, ReLU between; the attention reads a message's state and the
mean vector of its neighbours that share an element of the view "hashtag" (the first view, if none
is called so) and itself; a linear classifier, cross-entropy, all trained together.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus, Ints
from eventide.features.time_buckets import SECONDS
from eventide.graphs.sampled.edge_blocks import Floats
from eventide.graphs.sampled.message_similarity import pair_cosines, shared_share
from eventide.graphs.views import HASHTAG
from eventide.methods.event_detection.sampled_method import SAMPLED, SampledGraphMethod
from eventide.methods.trained import cross_entropy_objective
from eventide.networks.sampled_networks import FusedGraphs, LayeredNetwork, TwoGraphs
from eventide.training.phases import Phase

WIDTH = 256


class Mvgan(SampledGraphMethod):
    """Semantic and temporal convolutions, fused message by message, with cross-entropy."""

    note: ClassVar[str] = "reconstruction from the abstract; " + SAMPLED

    def make_layers(
        self, corpus: Corpus, generator: torch.Generator
    ) -> tuple[list[nn.Module], int]:
        """Return the two layers of both graphs."""
        inputs = corpus.features.shape[1]
        first = TwoGraphs(inputs, WIDTH, generator=generator)
        return [first, FusedGraphs(inputs, WIDTH, generator=generator)], WIDTH

    def weigh(self, readers: Corpus, rows: Ints, memory: Corpus, columns: Ints) -> Floats:
        """Return cosine, nearness in time, and whether an element of the context is shared."""
        graph = self.settings.graph
        days = SECONDS[graph.time_unit] * graph.bucket_width / SECONDS["day"]
        apart = np.abs(readers.times[rows] - memory.times[columns]) * days
        views = memory.incidences
        context = HASHTAG.name if HASHTAG.name in views else next(iter(views))
        shares = shared_share(readers.incidences[context], rows, views[context], columns)
        cosines = pair_cosines(readers.features, rows, memory.features, columns)
        kinds = [np.maximum(cosines, 0), np.exp(-apart), shares > 0]
        return np.stack(kinds, axis=1).astype(np.float32)

    def make_phases(self, network: LayeredNetwork, counts: Tensor) -> list[Phase]:
        """Train everything together."""
        return [Phase(cross_entropy_objective(counts), self.settings.training)]
