"""KPGNN: graph attention over sampled neighbours, trained by triplets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus
from eventide.corpus.training_set import TrainingSet
from eventide.features.time_buckets import SECONDS
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.pairwise import triplet_loss
from eventide.methods.event_detection.sampled_method import SAMPLED, SampledGraphMethod
from eventide.networks.sampled_networks import GraphAttention, LayeredNetwork
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import TrainingRun, Watch
from eventide.training.phases import Phase

HEADS, WIDTH, LAST = 4, 8, 32
MARGIN = 3.0
DAY = 86_400_000  # milliseconds
FIRST_DAY = 25_569
"""Days from 30 December 1899, where KPGNN's calendar starts, to 1970."""
TIMES = "rows.time_numbers"


class Kpgnn(SampledGraphMethod):
    """Vectors near those of the same event, then a linear head on them.

    Cao et al., "Knowledge-Preserving Incremental Social Event Detection via Heterogeneous GNNs"
    (WWW 2021). [V] 4 heads of 8, then 1 of 32, residual and ELU; margin 3; Adam 1e-3, weight decay
    1e-4. [C] Batches of 512 instead of 2,000, which would be one step an epoch on small sets;
    fewer neighbours than 800; no DGI term, which is optional there; a linear head instead of
    clustering. A saved model keeps the two time numbers of every message of its memory, so its
    second.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "training.learning_rate": 1e-3,
        "training.weight_decay": 1e-4,
        "training.batch_size": 512,
    }
    note: ClassVar[str] = (
        SAMPLED + " (released: 800), batches of {settings.training.batch_size} (released: 2000),"
        " no DGI term"
    )

    def fit(
        self, training_set: TrainingSet, watch: Watch, checkpoints: Checkpoints | None
    ) -> TrainingRun:
        """Note the time of every message of the memory, then train."""
        self._times = self.time_numbers(training_set.corpus)
        return super().fit(training_set, watch, checkpoints)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the weights and the time numbers of the memory."""
        return super().state() | {TIMES: self._times}

    def restore(self, arrays: Mapping[str, NDArray[Any]], corpus: Corpus) -> None:
        """Rebuild the method from its arrays."""
        self._times = arrays[TIMES]
        super().restore(arrays, corpus)

    def make_layers(
        self, corpus: Corpus, generator: torch.Generator
    ) -> tuple[list[nn.Module], int]:
        """Return the two layers of attention."""
        inputs = corpus.features.shape[1] + 2
        first = GraphAttention(inputs, HEADS, WIDTH, activation=True, generator=generator)
        last = GraphAttention(HEADS * WIDTH, 1, LAST, activation=False, generator=generator)
        return [first, last], LAST

    def inputs(self, corpus: Corpus) -> Tensor:
        """Return vectors and time numbers side by side."""
        return _beside(corpus, self.time_numbers(corpus))

    def memory_inputs(self, corpus: Corpus) -> Tensor:
        """Return the same for the memory, whose time numbers are kept."""
        return _beside(corpus, self._times)

    def time_numbers(self, corpus: Corpus) -> NDArray[np.float32]:
        """Return days / 100,000 and the fraction of the day [n, 2].

        A corpus without its messages knows the bucket of a time, so its beginning is taken.
        """
        graph = self.settings.graph
        if corpus.source is None:
            moments = corpus.times * (SECONDS[graph.time_unit] * graph.bucket_width * 1_000)
        else:
            created = corpus.source.get_column("created_at").cast(pl.Datetime("ms", "UTC"))
            moments = created.to_physical().to_numpy()
        days, rest = np.divmod(moments, DAY)
        return np.stack([(days + FIRST_DAY) / 1e5, rest / DAY], axis=1).astype(np.float32)

    def make_phases(self, network: LayeredNetwork, counts: Tensor) -> list[Phase]:
        """Learn from triplets, then fit the head."""
        triplets = Triplets(self.seed)
        return [
            self.encoder_phase(counts, triplets, network.width),
            self.head_phase(counts),
        ]


class Triplets:
    """Triplets of a batch with random violating negatives.

    Seed, epoch and the number of the batch decide the negatives, so that a run can resume.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._epoch = 0
        self._draws = np.random.default_rng()

    def __call__(self, inputs: LossInputs) -> Tensor:
        """Return the loss of each triplet."""
        if inputs.epoch != self._epoch:
            self._epoch = inputs.epoch
            self._draws = np.random.default_rng([self._seed, inputs.epoch, 1])
        generator = torch.Generator().manual_seed(int(self._draws.integers(2**63)))
        (embeddings,) = inputs.embeddings
        return triplet_loss(embeddings, inputs.labels, margin=MARGIN, generator=generator)


def _beside(corpus: Corpus, times: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.concatenate([corpus.features, times], axis=1))
