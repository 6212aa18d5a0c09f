"""PP-GCN: pairwise popularity graph convolution over learned weights of the views.

Peng et al., "Fine-grained Event Categorization with Heterogeneous Graph Convolutional Networks"
(IJCAI 2019). [V] similarity of two messages in a view (meta-path) 2*M_ij / (M_ii + M_jj), its sum
over the views with weights sigmoid(w_v), three layers of 512, 256, 128 with ReLU, the logit of a
pair from the ratio of its norms, 64 pairs a step, half of them of one event, SGD 1e-3 with momentum
0.9. [C] neighbours are sampled, and the weights scaled by row where the released code sums them as
they are; w from 0; no dropout; an epoch has at most 16 batches (there: all pairs, about 300); the
gradient of a batch is bounded, as the loss has a pole; the epoch is chosen by the nearest centroid
of norms, which are all that the pairs compare, and a linear head fitted on the frozen vectors by
Adam.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus, Ints
from eventide.graphs.sampled.edge_blocks import Floats
from eventide.graphs.sampled.message_similarity import shared_share
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.pairwise import bounded_gradient, lengths, norm_ratio_loss
from eventide.methods.event_detection.sampled_method import SAMPLED, SampledGraphMethod
from eventide.networks.sampled_networks import (
    GraphConvolution,
    LayeredNetwork,
    MixedConvolution,
    ViewMix,
)
from eventide.training.phases import Phase

WIDTHS = (512, 256, 128)
MOST_BATCHES = 16
"""Batches in an epoch at most: every batch looks at most of the graph, however few its pairs."""


class PpGcn(SampledGraphMethod):
    """Vectors as long as their event wants, then a linear head on them."""

    defaults: ClassVar[Mapping[str, Any]] = {
        "training.optimiser": "sgd",
        "training.momentum": 0.9,
        "training.learning_rate": 1e-3,
        "training.batch_size": 128,
    }
    note: ClassVar[str] = (
        f"{SAMPLED} (released: all), at most {MOST_BATCHES} batches of pairs an epoch (released:"
        " about 300)"
    )

    def make_layers(
        self, corpus: Corpus, generator: torch.Generator
    ) -> tuple[list[nn.Module], int]:
        """Return three convolutions that share the weights of the views."""
        mix = ViewMix(len(corpus.incidences))
        widths = (corpus.features.shape[1], *WIDTHS)
        convolutions = [
            GraphConvolution(inputs, outputs, activation=True, generator=generator)
            for inputs, outputs in pairwise(widths)
        ]
        return [MixedConvolution(mix, each) for each in convolutions], WIDTHS[-1]

    def weigh(self, readers: Corpus, rows: Ints, memory: Corpus, columns: Ints) -> Floats:
        """Return the similarity of each pair in each view [pairs, views]."""
        return np.stack(
            [
                shared_share(readers.incidences[view], rows, elements, columns)
                for view, elements in memory.incidences.items()
            ],
            axis=1,
        )

    def make_phases(self, network: LayeredNetwork, counts: Tensor) -> list[Phase]:
        """Learn from pairs, then fit the head."""
        return [
            self.encoder_phase(counts, pair_loss, 1, log_norms, pair_batches),
            self.head_phase(counts),
        ]


def pair_batches(rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
    """Yield ``size`` messages at a time, half of the pairs of one event."""
    pairs = max(size // 2, 1)
    count = min(-(-len(rows) // pairs), MOST_BATCHES)
    return paired_batches(rows, labels, pairs, count, seed, epoch)


def pair_loss(inputs: LossInputs) -> Tensor:
    """Return the loss of each pair: the first half of a batch with the second [B / 2]."""
    (embeddings,) = inputs.embeddings
    first, second = bounded_gradient(embeddings).chunk(2)
    one, other = inputs.labels.chunk(2)
    return norm_ratio_loss(first, second, one == other)


def log_norms(embeddings: Tensor) -> Tensor:
    """Return log norms [n, 1]: a pair's logit depends on their difference alone."""
    return lengths(embeddings).log().unsqueeze(1)


def paired_batches(
    rows: Ints, labels: Ints, pairs: int, count: int, seed: int, epoch: int
) -> Iterator[Ints]:
    """Yield ``count`` batches of 2 * ``pairs`` messages: the first ones, then their partners.

    First messages take turns. The partners of every other one are drawn from its own event, the
    rest from all other events; a message that is alone in its event is its own partner.

    >>> rows, labels = np.arange(6), np.array([0, 0, 0, 1, 1, 1])
    >>> batch = next(paired_batches(rows, labels, 4, 1, seed=0, epoch=1))
    >>> (labels[batch[:4]] == labels[batch[4:]]).tolist()
    [True, False, True, False]
    """
    random = np.random.default_rng([seed, epoch])
    ordered = rows[np.argsort(labels, kind="stable")]
    _, event, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    rounds = [random.permutation(len(rows)) for _ in range(-(-count * pairs // len(rows)))]
    turns = np.concatenate(rounds)[: count * pairs]
    for first in np.split(turns, count):
        start, size = starts[event[first]], sizes[event[first]]
        alike = start + random.integers(size)
        apart = random.integers(len(rows) - size)
        apart += np.where(apart >= start, size, 0)  # step over the own event
        # "every other", in turns, so that a batch is always half and half
        partner = np.where(np.arange(pairs) % 2 == 0, alike, apart)
        yield np.concatenate([rows[first], ordered[partner]])
