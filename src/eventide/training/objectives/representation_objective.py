"""Objectives that shape embeddings and know no classifier: read by the nearest class centroid."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from eventide.tensors import widen
from eventide.training.objectives.logit_objective import PlainObjective
from eventide.training.objectives.objective import Outputs


class RepresentationObjective(PlainObjective):
    """A loss on embeddings plus lambda3 * L_Common; a phase that trains an encoder alone.

    Subclasses give ``represent``, and ``place`` where distances are not between raw embeddings.
    The score of a class is minus the squared distance to its centroid, the mean of its training
    messages at the end of the last epoch; scores add up over the views. So the epoch that is kept
    is the one with the best nearest-centroid accuracy on the validation messages. ``width`` is the
    length of what ``place`` returns.
    """

    watches_before_training = True
    centroids: Tensor
    """Class centroids by view [V, C, width]."""

    def __init__(
        self, counts: Tensor, agreement_weight: float, views: Sequence[str], width: int
    ) -> None:
        super().__init__(counts, agreement_weight)
        self.views = tuple(views)
        self.register_buffer("centroids", torch.zeros(len(self.views), len(counts), width))

    def represent(self, outputs: Outputs, labels: Tensor, epoch: int) -> Tensor:
        """Return the representation loss of each message [B], summed over the views."""
        raise NotImplementedError

    def place(self, embeddings: Tensor) -> Tensor:
        """Return where messages lie [n, width], given embeddings [n, d] in full precision."""
        return embeddings

    def terms(self, outputs: Outputs, labels: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the mean representation loss of the batch."""
        return {"representation": self.represent(outputs, labels, epoch).mean()}

    def scores(self, outputs: Outputs) -> dict[str, Tensor]:
        """Return minus the squared distances to the class centroids [B, C], view by view."""
        return {
            view: -squared_distances(self.place(widen(outputs[view].embeddings)), centroids)
            for view, centroids in zip(self.views, self.centroids, strict=True)
        }

    @torch.no_grad()
    def observe(self, outputs: Outputs, labels: Tensor, epoch: int) -> None:
        """Recompute the centroids from all training messages, and from nothing else."""
        for index, view in enumerate(self.views):
            places = self.place(widen(outputs[view].embeddings))
            self.centroids[index] = class_means(places, labels, len(self.counts))


def class_means(places: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Mean of the rows of ``places`` [n, d] of each class [C, d]; zero for an empty class.

    >>> class_means(torch.tensor([[1.0, 1.0], [5.0, -1.0]]), torch.tensor([1, 1]), 2).tolist()
    [[0.0, 0.0], [3.0, 0.0]]
    """
    counts = torch.bincount(labels, minlength=classes).clamp(min=1).unsqueeze(1)
    return places.new_zeros(classes, places.shape[1]).index_add_(0, labels, places) / counts


def squared_distances(places: Tensor, others: Tensor) -> Tensor:
    """Squared Euclidean distance of each of ``places`` [n, d] to each of ``others`` [m, d].

    >>> squared_distances(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])).item()
    25.0
    """
    # Not through a matrix product, which loses the small distances that decide.
    exact = "donot_use_mm_for_euclid_dist"
    return torch.cdist(places, others.to(places.dtype), compute_mode=exact).square()
