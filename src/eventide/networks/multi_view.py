"""The whole network: one encoder shared by the views, one evidence head per view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from eventide.errors import BadSetting
from eventide.graphs.neighbourhood_protocol import Lookup, Neighbourhood
from eventide.networks.encoder import SharedEncoder
from eventide.networks.heads import EvidenceHead, evidence_of
from eventide.networks.initialisation import MaskRows, Noise
from eventide.networks.settings import NetworkSettings
from eventide.networks.temporal_attention import Average
from eventide.networks.trainable import TrainableNetwork
from eventide.tensors import widen

SMALL_BATCH = 64  # messages that depend on so few others that computing all would be a waste


@dataclass(frozen=True, eq=False)
class ViewOutput:
    """What one view says about a batch: embeddings [B, d], logits [B, C], and evidence [B, C]."""

    embeddings: Tensor
    logits: Tensor
    settings: NetworkSettings
    prototypes: Tensor | None = None
    """The classifier's vectors [C, d], where logits are cosines of embeddings with them."""

    @cached_property
    def evidence(self) -> Tensor:
        """Non-negative evidence, computed when first asked for."""
        return evidence_of(self.logits, self.settings)


def rows_of(outputs: Mapping[str, ViewOutput], rows: slice) -> dict[str, ViewOutput]:
    """Return what is said of some of the messages, without a copy."""
    return {
        view: replace(each, embeddings=each.embeddings[rows], logits=each.logits[rows])
        for view, each in outputs.items()
    }


def fused_logits(outputs: Mapping[str, ViewOutput]) -> Tensor:
    """Sum the views' logits [B, C], or average those of cosine classifiers, in full precision.

    Cosines are bounded: their sum would sharpen a softmax with the number of views.
    """
    total = torch.stack([widen(output.logits) for output in outputs.values()]).sum(dim=0)
    linear = all(output.settings.classifier == "linear" for output in outputs.values())
    return total if linear else total / len(outputs)


class MultiViewNetwork(TrainableNetwork):
    """Encoder and heads; graphs are inputs, so one network serves any set of messages.

    ``seed`` decides the initialisation and the dropout masks, on every device alike.
    """

    def __init__(
        self,
        *,
        features: int,
        classes: int,
        views: Sequence[str],
        settings: NetworkSettings | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(Noise(seed))
        if not views or len(set(views)) != len(views):
            raise BadSetting(
                f"a network needs views with different names, got {list(views)}",
                next_step="give each view its own name, and at least one view",
            )
        self.settings = settings or NetworkSettings()
        self.views = tuple(views)
        generator = torch.Generator().manual_seed(seed)
        self.encoder = SharedEncoder(features, self.settings, generator=generator, noise=self.noise)
        # A list beside the names: a view may carry any name, a module's name may not.
        self.heads = nn.ModuleList(
            EvidenceHead(
                self.encoder.width, classes, self.settings, generator=generator, noise=self.noise
            )
            for _ in views
        )

    def modules_of(self, part: Literal["encoder", "classifier"]) -> Iterator[nn.Module]:
        """Yield the shared encoder, or the views' heads."""
        yield self.encoder if part == "encoder" else self.heads

    def forward(
        self, features: Tensor, graphs: Mapping[str, Neighbourhood], rows: Tensor | None = None
    ) -> dict[str, ViewOutput]:
        """Run the messages ``rows`` (all by default) through every view.

        ``features`` [N, features] are what ``encoder.prepare`` returned for all messages.
        """
        many = rows is None or len(rows) > SMALL_BATCH
        projected = self.encoder.project(features) if many else None
        return {
            view: self._output(head, self.encoder(features, graphs[view], rows, projected))
            for view, head in self._heads()
        }

    def forward_shared(self, reads: Mapping[str, tuple[Tensor, Average]]) -> dict[str, ViewOutput]:
        """Run the last layer alone, given hidden states of messages and how these average."""
        return {
            view: self._output(head, self.encoder.last(*reads[view]))
            for view, head in self._heads()
        }

    @torch.no_grad()
    def memory(
        self, features: Tensor, graphs: Mapping[str, Neighbourhood]
    ) -> dict[str, list[Tensor]]:
        """Compute what ``forward_new`` looks up, per view: prepared features and hidden states."""
        projected = self.encoder.project(features)
        return {view: self.encoder.memory(features, graphs[view], projected) for view in self.views}

    def forward_new(
        self,
        features: Tensor,
        memory: Mapping[str, Sequence[Any]],
        lookups: Mapping[str, Lookup],
    ) -> dict[str, ViewOutput]:
        """Run new messages, by their prepared ``features`` [n, features], against a ``memory``."""
        return {
            view: self._output(
                head, self.encoder.forward_new(features, memory[view], lookups[view])
            )
            for view, head in self._heads()
        }

    def adjust(self, counts: Tensor, strength: float) -> None:
        """While training, add ``strength`` * log(class share) to the logits, a part in each view.

        ``counts`` [C] are training messages per class; a class without any gets nothing.
        """
        shares = counts.double().clamp(min=1) / counts.sum().clamp(min=1)
        prior = strength / len(self.views) * shares.log()
        for _, head in self._heads():
            head.prior = prior - prior.mean()

    def output_of(self, view: str, embeddings: Tensor, mask: MaskRows | None = None) -> ViewOutput:
        """Let the head of a view read embeddings; ``mask``: where they lie in its dropout mask."""
        return self._output(dict(self._heads())[view], embeddings, mask)

    def _heads(self) -> list[tuple[str, EvidenceHead]]:
        return list(zip(self.views, cast(list[EvidenceHead], list(self.heads)), strict=True))

    def _output(
        self, head: EvidenceHead, embeddings: Tensor, mask: MaskRows | None = None
    ) -> ViewOutput:
        return ViewOutput(embeddings, head(embeddings, mask), self.settings, head.prototypes)
