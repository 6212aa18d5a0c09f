"""KPGNN: graph attention over sampled neighbours, trained by triplets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eventide.corpus.corpus import Corpus, Ints
from eventide.corpus.training_set import TrainingSet
from eventide.features.time_buckets import SECONDS
from eventide.losses.pairwise import infomax_loss, triplet_loss
from eventide.methods.event_detection.sampled_method import SampledGraphMethod
from eventide.networks.multi_view import ViewOutput
from eventide.networks.sampled_networks import GraphAttention, LayeredNetwork
from eventide.runners.graph_runner import Outputs
from eventide.runners.sampled_runner import VIEW, SampledRunner
from eventide.training.checkpoints import Checkpoints
from eventide.training.loop import TrainingRun, Watch
from eventide.training.objectives.objective import Outputs as ObjectiveOutputs
from eventide.training.objectives.representation_objective import RepresentationObjective
from eventide.training.phases import Phase


@dataclass(frozen=True, eq=False)
class Shuffled(ViewOutput):
    """An output beside what the network says of the same graph with others' features [B, d]."""

    shuffled: Tensor


class InfomaxRunner(SampledRunner):
    """Features are shuffled by rotating them; the first row of a batch, itself random, says how."""

    def learn(self, rows: Ints) -> Outputs:
        """Run rows of the graph twice, the second time with others' features."""
        if self.network.encoder_frozen:
            return super().learn(rows)
        self.network.train()
        self._states.drop()
        inputs, blocks = self.field(rows)
        step = 1 + int(rows[0]) % max(len(inputs) - 1, 1)
        output = self._output(self.network.states(inputs, blocks))[VIEW]
        other = self.network.states(torch.roll(inputs, step, dims=0), blocks)
        return {VIEW: Shuffled(output.embeddings, output.logits, output.settings, other)}


HEADS, WIDTH, LAST = 4, 8, 32
MARGIN = 3.0
DAY = 86_400_000  # milliseconds
FIRST_DAY = 25_569
"""Days from 30 December 1899, where KPGNN's calendar starts, to 1970."""
TIMES = "rows.time_numbers"


class Kpgnn(SampledGraphMethod):
    """Vectors near those of the same event, then a linear head on them.

    A saved model keeps the two time numbers of every message of its memory, so its second.
    """

    defaults: ClassVar[Mapping[str, Any]] = {
        "training.learning_rate": 1e-3,
        "training.weight_decay": 1e-4,
        "training.batch_size": 512,
    }
    infomax_weight: ClassVar[float] = 0.0
    """Weight of the optional infomax term."""

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
        """Stand ready again."""
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

    def stage_kind(self) -> type[SampledRunner]:
        """Return a runner that shuffles too, where the infomax term is wanted."""
        return InfomaxRunner if self.infomax_weight > 0 else SampledRunner

    def make_phases(self, network: LayeredNetwork, counts: Tensor) -> list[Phase]:
        """Learn from triplets, then fit the head."""
        objective = TripletObjective(counts, network.width, self.infomax_weight)
        return [self.encoder_phase(objective), self.head_phase(counts)]


class TripletObjective(RepresentationObjective):
    """Triplets of a batch with random violating negatives, and the infomax term if it counts."""

    def __init__(self, counts: Tensor, width: int, infomax_weight: float) -> None:
        super().__init__(counts, 0.0, (VIEW,), width)
        self.infomax_weight = infomax_weight
        if infomax_weight > 0:
            self.bilinear = nn.Parameter(torch.eye(width))
        self._generator = torch.Generator()

    def batches(self, rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
        """Yield shuffled batches; which one it is decides the negatives, so a run can resume."""
        draws = np.random.default_rng([seed, epoch, 1])
        for batch in super().batches(rows, labels, size, seed, epoch):
            self._generator.manual_seed(int(draws.integers(2**63)))
            yield batch

    def represent(self, outputs: ObjectiveOutputs, labels: Tensor, epoch: int) -> Tensor:
        """Return the loss of each triplet."""
        embeddings = outputs[VIEW].embeddings
        return triplet_loss(embeddings, labels, margin=MARGIN, generator=self._generator)

    def terms(self, outputs: ObjectiveOutputs, labels: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the triplet term and, if it counts, the infomax term."""
        terms = super().terms(outputs, labels, epoch)
        output = outputs[VIEW]
        if isinstance(output, Shuffled):
            terms["infomax"] = infomax_loss(
                output.embeddings, output.shuffled, self.bilinear
            ).mean()
        return terms

    def weights(self, epoch: int) -> Mapping[str, float]:
        """Return the weight of the infomax term."""
        return {"infomax": self.infomax_weight}


def _beside(corpus: Corpus, times: NDArray[np.float32]) -> Tensor:
    return torch.from_numpy(np.concatenate([corpus.features, times], axis=1))
