"""ProCo: contrast with infinitely many samples of each class's distribution on the sphere.

Du et al., "Probabilistic contrastive learning for long-tailed visual recognition" (TPAMI 2024):
-log( pi_y C(kappa~_y)/C(kappa_y) / sum_j pi_j C(kappa~_j)/C(kappa_j) ), where pi is the share of
a class and kappa~_j the length of kappa_j mu_j + z / temperature.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from eventide.losses.classification import logit_adjusted
from eventide.losses.contrastive.von_mises_fisher import expected_contrast
from eventide.losses.loss_inputs import LossInputs
from eventide.losses.terms import RegisteredLoss, Term
from eventide.methods.trained import MultiViewMethod
from eventide.networks.heads import Projector
from eventide.networks.multi_view import MultiViewNetwork
from eventide.tensors import class_means, unit_rows
from eventide.training.objectives.objective import Objective

TEMPERATURE = 0.1
HIDDEN, PROJECTED = 512, 128
START = 0.9
"""The length of the random means before the first message of a class is seen."""


class ExpectedContrast(nn.Module):
    """The closed form of the contrast, summed over the views; it follows the classes' means.

    Used are the means over the last epoch and this one so far; meanwhile those of this epoch alone
    are gathered, to be used in the next.
    """

    means: Tensor
    """Class means by view, in use and gathered [2, V, C, p]."""
    seen: Tensor
    """Messages behind them [2, C]."""
    epoch: Tensor
    """The epoch of the last batch."""

    def __init__(self, network: MultiViewNetwork, classes: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        width = network.encoder.width
        self.projectors = nn.ModuleList(
            Projector(width, HIDDEN, PROJECTED, generator=generator) for _ in network.views
        )
        start = torch.randn(len(network.views), classes, PROJECTED, generator=generator)
        start = START * unit_rows(start.double())
        self.register_buffer("means", torch.stack([start, start]))
        self.register_buffer("seen", torch.zeros(2, classes, dtype=torch.float64))
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))

    def forward(self, inputs: LossInputs) -> Tensor:
        """Take the batch into the means and return the loss of each message [B]."""
        directions = [
            unit_rows(cast(Tensor, projector(embeddings)))
            for projector, embeddings in zip(self.projectors, inputs.embeddings, strict=True)
        ]
        self._follow(directions, inputs.labels, inputs.epoch)
        per_view = [
            logit_adjusted(
                expected_contrast(each, means, TEMPERATURE),
                inputs.labels,
                inputs.statistics.counts,
            )
            for each, means in zip(directions, self.means[0].clone(), strict=True)
        ]
        return torch.stack(per_view).sum(dim=0)

    @torch.no_grad()
    def _follow(self, directions: list[Tensor], labels: Tensor, epoch: int) -> None:
        if epoch != int(self.epoch):
            self.epoch.fill_(epoch)
            self.means[0], self.seen[0] = self.means[1], self.seen[1]
            self.seen[1] = 0
        counts = torch.bincount(labels, minlength=self.seen.shape[1])
        batch = [class_means(each.double(), labels, len(counts)) for each in directions]
        # A class that nobody has shown yet keeps its random start: its share is 0 / 1.
        share = counts / (counts + self.seen).clamp(min=1)
        self.means.lerp_(torch.stack(batch).unsqueeze(0), share[:, None, :, None])
        self.seen += counts


class ProCo(MultiViewMethod):
    """Logit-adjusted cross-entropy + the expected contrast of each view's projection.

    [V] Projector of one hidden layer of 512 to 128 dimensions on the sphere, temperature 0.1, both
    losses with the log prior and weight 1, linear classifier, means over the last epoch and this
    one so far, random ones of length 0.9 at the start, kappa at most 1e5. [P] kappa =
    R (p - R^2) / (1 - R^2); the released code leaves out the second R^2. [C] One embedding per
    message and view instead of two augmented images, one projector and one set of means per view,
    summed over the views; no batch normalisation in the projector; Debye's expansion instead of
    Miller's recurrence.
    """

    def make_objective(self, network: MultiViewNetwork, counts: Tensor) -> Objective:
        """Return logit-adjusted cross-entropy + the expected contrast."""
        terms = {
            "error": self.error_term(RegisteredLoss("logit-adjusted")),
            "contrastive": Term(ExpectedContrast(network, len(counts), self.seed)),
        }
        return self.classifying(network, counts, terms)
