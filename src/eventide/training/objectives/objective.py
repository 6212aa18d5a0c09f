"""What the loop asks of an objective, and the paper's: losses beside what they know of classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eventide.losses.class_state import ClassStatistics
from eventide.losses.evidential import evidential_error
from eventide.losses.total import TotalLoss
from eventide.networks.multi_view import ViewOutput
from eventide.opinions.fusion import conflict, fuse
from eventide.opinions.opinion import Opinion
from eventide.training.batches import shuffled_batches

Outputs = Mapping[str, ViewOutput]
Ints = NDArray[np.int64]


class Readout(Protocol):
    """What is thought of a batch of messages, whatever the method."""

    @property
    def predicted(self) -> Tensor:
        """The class [B], -1 where nothing speaks for any."""

    def decided(self, fallback: int | Tensor) -> Tensor:
        """The class [B], with ``fallback`` where nothing speaks for any."""

    @property
    def belief(self) -> Tensor:
        """Belief per class [B, C]."""

    @property
    def probability(self) -> Tensor:
        """Probability per class [B, C]."""

    @property
    def uncertainty(self) -> Tensor:
        """How much is left open [B], between 0 and 1."""


class Objective(nn.Module):
    """A loss, a way to read the network's outputs, and a memory of the classes."""

    watches_before_training = False
    """Whether ``observe`` needs a pass over the training messages before epoch 1."""
    counts: Tensor
    """How many training messages each class has [C]; a buffer, so that a model keeps it."""

    def batches(self, rows: Ints, labels: Ints, size: int, seed: int, epoch: int) -> Iterator[Ints]:
        """Yield the mini-batches of an epoch: every one of ``rows`` once, shuffled.

        ``labels`` are those of ``rows``, for objectives that sample by class.
        """
        return shuffled_batches(rows, size, seed, epoch)

    def loss(self, outputs: Outputs, labels: Tensor, epoch: int) -> tuple[Tensor, dict[str, float]]:
        """Return the scalar to minimise and the mean of each term by name."""
        raise NotImplementedError

    def read_views(self, outputs: Outputs) -> Mapping[str, Readout]:
        """Say what each view alone thinks of the messages."""
        raise NotImplementedError

    def read(self, outputs: Outputs) -> Readout:
        """Say what the views together think of the messages."""
        raise NotImplementedError

    def conflict(self, outputs: Outputs) -> Tensor:
        """Return how much the views contradict each other [B]; 0 where that has no meaning."""
        raise NotImplementedError

    def error(self, outputs: Outputs, labels: Tensor) -> float:
        """Return the mean prediction error, which settles ties between epochs."""
        raise NotImplementedError

    @property
    def observes(self) -> bool:
        """Whether ``observe`` does anything: a pass over all training messages is not free."""
        return type(self).observe is not Objective.observe

    def observe(self, outputs: Outputs, labels: Tensor, epoch: int) -> None:
        """Learn about the classes from all training messages at the end of ``epoch`` (0: start)."""


class UncertaintyGuided(Objective):
    """UCL and UCL-EC: the total loss, Dempster's fusion, class uncertainty and centroids."""

    uncertainty: Tensor
    error_rate: Tensor

    def __init__(self, total: TotalLoss, counts: Tensor) -> None:
        super().__init__()
        self.total = total
        start = ClassStatistics.initial(counts)
        # Buffers, so that a checkpoint holds the class state like any other tensor.
        self.register_buffer("counts", start.counts)
        self.register_buffer("uncertainty", start.uncertainty)
        self.register_buffer("error_rate", start.error_rate)
        self.watches_before_training = total.prototypes.refreshed_every_epoch

    @property
    def statistics(self) -> ClassStatistics:
        """What is known of the classes while this epoch lasts."""
        return ClassStatistics(self.counts, self.uncertainty, self.error_rate)

    def loss(self, outputs: Outputs, labels: Tensor, epoch: int) -> tuple[Tensor, dict[str, float]]:
        """Equation `eq_total` with this epoch's class statistics."""
        total: tuple[Tensor, dict[str, float]] = self.total(outputs, labels, self.statistics, epoch)
        return total

    def read_views(self, outputs: Outputs) -> dict[str, Opinion]:
        """Form an opinion from each view's evidence."""
        return {view: Opinion.from_evidence(each.evidence) for view, each in outputs.items()}

    def read(self, outputs: Outputs) -> Opinion:
        """Fuse the views' opinions by Dempster's rule."""
        return fuse(list(self.read_views(outputs).values()))

    def conflict(self, outputs: Outputs) -> Tensor:
        """Mass that Dempster's rule found in contradictions."""
        return conflict(list(self.read_views(outputs).values()))

    def error(self, outputs: Outputs, labels: Tensor) -> float:
        """Mean evidential error (equation `eq_error`)."""
        return float(evidential_error(self.read(outputs), labels).mean())

    @torch.no_grad()
    def observe(self, outputs: Outputs, labels: Tensor, epoch: int) -> None:
        """Refresh centroids, and from epoch 1 on the class uncertainty and error rate."""
        embeddings = {view: output.embeddings for view, output in outputs.items()}
        self.total.prototypes.refresh(embeddings, labels)
        if epoch > 0:
            updated = self.statistics.updated(self.read(outputs), labels)
            self.uncertainty.copy_(updated.uncertainty)
            self.error_rate.copy_(updated.error_rate)
