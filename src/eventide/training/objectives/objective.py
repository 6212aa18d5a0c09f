"""What the loop minimises: named loss terms, a batch sampler, a reader, and the class state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eventide.errors import BadSetting
from eventide.losses.class_state import ClassStatistics
from eventide.losses.loss_inputs import Outputs
from eventide.losses.terms import RegisteredLoss, Term
from eventide.networks.multi_view import rows_of
from eventide.opinions.opinion import OpinionLike
from eventide.training.batches import Sampler
from eventide.training.objectives.output_readers import Opinions, Reader

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


AT_ONCE = 65_536
"""Messages whose opinions are formed at a time where only their summary is wanted."""


@dataclass(frozen=True, eq=False)
class Summary:
    """What is predicted for each message [n], and how uncertain that is [n]."""

    predicted: Tensor
    uncertainty: Tensor

    def of(self, chosen: Tensor) -> Summary:
        """Return that of some messages."""
        return Summary(self.predicted[chosen], self.uncertainty[chosen])


class Readout:
    """What a reader says of a batch: every view alone, all together, and their conflict.

    Each is formed once, when it is first asked for.
    """

    def __init__(self, reader: Reader, outputs: Outputs) -> None:
        self._reader, self._outputs = reader, outputs

    @cached_property
    def views(self) -> Opinions:
        """What each view alone says."""
        return self._reader.opinions(self._outputs)

    @cached_property
    def fused(self) -> OpinionLike:
        """What the views say together."""
        return self._reader.fuse(self.views)

    @cached_property
    def summary(self) -> Summary:
        """What the views say together, formed for some messages at a time: opinions are large."""
        count = len(next(iter(self._outputs.values())).logits)
        parts = []
        for first in range(0, max(count, 1), AT_ONCE):
            some = rows_of(self._outputs, slice(first, first + AT_ONCE))
            fused = self._reader.fuse(self._reader.opinions(some))
            parts.append((fused.predicted, fused.uncertainty))
        return Summary(*(torch.cat(each) for each in zip(*parts, strict=True)))

    @cached_property
    def conflict(self) -> Tensor:
        """How much the views contradict each other [B]; 0 where that has no meaning."""
        return self._reader.conflict(self.views, self.fused)


class Objective(nn.Module):
    """Loss terms x batch sampler x reader of outputs, and what is known of the classes.

    ``counts`` [C] are the training messages per class. Without a ``sampler`` of its own an
    objective takes the one of the settings. Class uncertainty and error rate are followed where the
    reader forms opinions or a term asks for them.
    """

    counts: Tensor
    log_shift: Tensor
    """What is added to the log probability of each class [C], see `opinions.prior_shift`."""
    uncertainty: Tensor
    error_rate: Tensor
    terms: dict[str, Term]
    """The terms of the loss by name."""

    def __init__(
        self,
        counts: Tensor,
        terms: Mapping[str, Term],
        reader: Reader,
        sampler: Sampler | None = None,
    ) -> None:
        super().__init__()
        self.reader = reader
        self.sampler = sampler
        # A module, so that its losses train and are saved; used as the mapping that it is.
        self.terms = cast(dict[str, Term], nn.ModuleDict())
        # Buffers, so that a model and a checkpoint hold the class state like any other tensor.
        self.register_buffer("counts", counts)
        self.register_buffer("log_shift", torch.zeros(len(counts), dtype=torch.float64))
        self.follows_classes = False
        if reader.forms_opinions:
            self._follow_classes()
        for name, term in terms.items():
            self.add(name, term)

    def add(self, name: str, term: Term) -> None:
        """Add a term under a name of its own."""
        if name in self.terms:
            raise BadSetting(
                f"the objective has a term {name!r} already",
                next_step="leave it out of loss.extra_terms; the other settings of the loss have"
                " its weight",
            )
        if "opinion" in term.asks and not self.reader.forms_opinions:
            raise BadSetting(
                f"the loss {name!r} reads opinions, and this method forms none",
                next_step="choose a method with evidence, such as ucl-ec, or another loss",
            )
        self.terms[name] = term
        if "statistics" in term.asks:
            self._follow_classes()

    def add_registered(self, weights: Mapping[str, float]) -> None:
        """Add registered losses by name, each with its weight."""
        for name, weight in weights.items():
            self.add(name, Term(RegisteredLoss(name), weight))

    def weights(self, epoch: int) -> dict[str, float]:
        """Return the weight of each term in an epoch, counted from 1."""
        return {name: term.weight(epoch) for name, term in self.terms.items()}

    @property
    def statistics(self) -> ClassStatistics:
        """What is known of the classes while this epoch lasts."""
        if self.follows_classes:
            return ClassStatistics(self.counts, self.uncertainty, self.error_rate)
        return ClassStatistics.initial(self.counts)

    def read(self, outputs: Outputs) -> Readout:
        """Say what is thought of the messages."""
        return Readout(self.reader, outputs)

    def project(self) -> None:
        """After a step: let every term bring its weights back to where they must be."""
        for term in self.terms.values():
            term.project()

    @property
    def observes_at_start(self) -> bool:
        """Whether ``observe`` needs a pass over the training messages before epoch 1."""
        return self.reader.observes or any(term.observes for term in self.terms.values())

    @property
    def observes(self) -> bool:
        """Whether ``observe`` does anything: a pass over all training messages is not free."""
        return self.follows_classes or self.observes_at_start

    @torch.no_grad()
    def observe(
        self, outputs: Outputs, labels: Tensor, epoch: int, among: Bools | None = None
    ) -> Readout:
        """Learn about the classes from all training messages at the end of ``epoch`` (0: start).

        Centroids are recomputed, and from epoch 1 on class uncertainty and error rate: of all
        messages, or of those that ``among`` [n] marks. The answer is what is read of all.
        """
        self.reader.observe(outputs, labels)
        for term in self.terms.values():
            term.observe(outputs, labels, epoch)
        readout = self.read(outputs)
        if self.follows_classes and epoch > 0:
            summary = readout.summary
            if among is not None:
                chosen = torch.from_numpy(among).to(labels.device)
                summary, labels = summary.of(chosen), labels[chosen]
            updated = self.statistics.updated(summary, labels)
            self.uncertainty.copy_(updated.uncertainty)
            self.error_rate.copy_(updated.error_rate)
        return readout

    def _follow_classes(self) -> None:
        if not self.follows_classes:
            start = ClassStatistics.initial(self.counts)
            self.register_buffer("uncertainty", start.uncertainty)
            self.register_buffer("error_rate", start.error_rate)
            self.follows_classes = True
