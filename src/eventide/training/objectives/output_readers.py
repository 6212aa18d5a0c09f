"""Readers of a network's outputs: evidence and a fusion rule, logits, or the nearest centroid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.losses.evidential import evidential_error
from eventide.losses.loss_inputs import Outputs
from eventide.opinions import FUSIONS
from eventide.opinions.categorical import Categorical
from eventide.opinions.fusion import conflict, fuse
from eventide.opinions.opinion import Opinion, OpinionLike
from eventide.runtime.share import current_share
from eventide.tensors import class_means, widen

Opinions = Mapping[str, OpinionLike]


class Reader(nn.Module):
    """Says what each view thinks of a batch, and what the views think together."""

    forms_opinions = False
    """Whether it forms `Opinion`s: belief and uncertainty from evidence."""
    observes = False
    """Whether ``observe`` does anything: a pass over all training messages is not free."""
    probabilistic = True
    """Whether what it says can be scored as probabilities."""

    def opinions(self, outputs: Outputs) -> Opinions:
        """Read each view alone."""
        raise NotImplementedError

    def fuse(self, opinions: Opinions) -> OpinionLike:
        """Combine what the views say."""
        raise NotImplementedError

    def conflict(self, opinions: Opinions, fused: OpinionLike) -> Tensor:
        """Return how much the views contradict each other [B]; 0 without evidence."""
        return torch.zeros(len(fused.predicted), dtype=torch.float64)

    def error(self, fused: OpinionLike, labels: Tensor) -> float:
        """Return the mean prediction error, which settles ties between epochs."""
        raise NotImplementedError

    def observe(self, outputs: Outputs, labels: Tensor) -> None:
        """Take over all training messages, before the first epoch and after each."""

    settles = False
    """Whether ``settle`` does anything."""

    def settle(self, outputs: Outputs, labels: Tensor) -> None:
        """After training: learn from validation messages how to combine the views."""


class EvidenceReader(Reader):
    """Opinions from the views' evidence, combined by a registered fusion rule."""

    forms_opinions = True

    def __init__(self, fusion: str = "dempster") -> None:
        super().__init__()
        rule = FUSIONS.load(fusion)
        # A rule that learns is a module: what it learned is saved with the reader.
        self.rule: Callable[[Sequence[Opinion]], Opinion] = (
            rule() if isinstance(rule, type) else rule
        )

    @property
    def settles(self) -> bool:  # type: ignore[override]
        """Whether the rule learns from validation messages."""
        return hasattr(self.rule, "fit")

    def settle(self, outputs: Outputs, labels: Tensor) -> None:
        """Let the rule learn how far to trust each view."""
        if self.settles:
            self.rule.fit(_formed(self.opinions(outputs)), labels)  # type: ignore[attr-defined]

    def opinions(self, outputs: Outputs) -> Opinions:
        """Form an opinion from each view's evidence."""
        return {view: Opinion.from_evidence(each.evidence) for view, each in outputs.items()}

    def fuse(self, opinions: Opinions) -> OpinionLike:
        """Fuse the views' opinions."""
        return self.rule(_formed(opinions))

    def conflict(self, opinions: Opinions, fused: OpinionLike) -> Tensor:
        """Mass that Dempster's rule finds in contradictions, whatever rule fuses the views."""
        by_dempster = cast(Opinion, fused) if self.rule is fuse else None
        return conflict(_formed(opinions), by_dempster)

    def error(self, fused: OpinionLike, labels: Tensor) -> float:
        """Mean evidential error (equation `eq_error`)."""
        return float(evidential_error(cast(Opinion, fused), labels).mean())


def _formed(opinions: Opinions) -> list[Opinion]:
    return cast(list[Opinion], list(opinions.values()))


class LogitReader(Reader):
    """Softmax of the views' logits; together their sum, or for cosine classifiers their mean.

    Cosines are bounded: their sum would sharpen the softmax with the number of views.
    """

    def __init__(self, *, cosine: bool = False) -> None:
        super().__init__()
        self.cosine = cosine

    def opinions(self, outputs: Outputs) -> Opinions:
        """Read each view's logits."""
        return {view: Categorical(widen(each.logits)) for view, each in outputs.items()}

    def fuse(self, opinions: Opinions) -> OpinionLike:
        """Add up the logits, or average them."""
        total = _summed(opinions)
        return Categorical(total / len(opinions) if self.cosine else total)

    def error(self, fused: OpinionLike, labels: Tensor) -> float:
        """Mean cross-entropy of the fused logits."""
        return _cross_entropy(fused, labels)


Position = Callable[[Tensor], Tensor]
"""From embeddings [n, d], in full precision, to the positions [n, width] that are compared."""


def unmoved(embeddings: Tensor) -> Tensor:
    """Return the embeddings themselves."""
    return embeddings


class CentroidReader(Reader):
    """Minus the squared distance to each class's centroid, summed over the views.

    For phases that train an encoder alone: the epoch that is kept is the one with the best
    nearest-centroid accuracy. A centroid is the mean position of the class's training messages at
    the end of the last epoch; ``width`` is the length of a position.
    """

    observes = True
    probabilistic = False
    centroids: Tensor
    """Class centroids by view [V, C, width]."""

    def __init__(
        self,
        views: Sequence[str],
        classes: int,
        width: int,
        position: Position = unmoved,
    ) -> None:
        super().__init__()
        self.views = tuple(views)
        self._position = position
        self.register_buffer("centroids", torch.zeros(len(self.views), classes, width))

    def opinions(self, outputs: Outputs) -> Opinions:
        """Compare each view's positions with its centroids; no gradient passes."""
        return {
            view: Categorical(-squared_distances(self._positions(outputs, view), centroids))
            for view, centroids in zip(self.views, self.centroids, strict=True)
        }

    def fuse(self, opinions: Opinions) -> OpinionLike:
        """Add up the views' scores."""
        return Categorical(_summed(opinions))

    def error(self, fused: OpinionLike, labels: Tensor) -> float:
        """Mean cross-entropy of the scores."""
        return _cross_entropy(fused, labels)

    @torch.no_grad()
    def observe(self, outputs: Outputs, labels: Tensor) -> None:
        """Recompute the centroids from all training messages, and from nothing else."""
        classes = self.centroids.shape[1]
        for index, view in enumerate(self.views):
            positions = self._positions(outputs, view)
            self.centroids[index] = class_means(positions, labels, classes, current_share())

    def _positions(self, outputs: Outputs, view: str) -> Tensor:
        return self._position(widen(outputs[view].embeddings.detach()))


def _summed(opinions: Opinions) -> Tensor:
    said = cast(Mapping[str, Categorical], opinions)
    return torch.stack([each.logits for each in said.values()]).sum(dim=0)


def _cross_entropy(fused: OpinionLike, labels: Tensor) -> float:
    return float(functional.cross_entropy(cast(Categorical, fused).logits, labels))


def squared_distances(positions: Tensor, others: Tensor) -> Tensor:
    """Squared Euclidean distance of each of ``positions`` [n, d] to each of ``others`` [m, d].

    >>> squared_distances(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])).item()
    25.0
    """
    # Not through a matrix product, which loses the small distances that decide.
    exact = "donot_use_mm_for_euclid_dist"
    return torch.cdist(positions, others.to(positions.dtype), compute_mode=exact).square()
