"""What is believed of each message, and how much is left uncertain.

An opinion is kept as log(1 + evidence / C), its *log growth*: 0 where there is no evidence, added
up where views are fused (see ``fusion``), and finite whatever the evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from eventide.opinions.special import digamma

NO_OPINION = -1
"""Predicted class of a message without any evidence."""

LARGEST = 700.0
"""exp(700) is about 1e304: where numbers that are not kept as logarithms stop growing."""

NOTHING = 1e-150
"""A belief below this is none: its square, which a gradient divides by, would be zero."""


class OpinionLike(Protocol):
    """What is said of a batch of messages: an `Opinion`, or plain class probabilities."""

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


@dataclass(frozen=True, eq=False)
class Opinion:
    """A batch of subjective opinions over C classes; equation `equ_edl`.

    alpha = evidence + 1; strength = sum(alpha); belief = evidence / strength;
    uncertainty = C / strength. All results are float64 and finite.

    >>> opinion = Opinion.from_evidence(torch.tensor([[6.0, 1.0, 0.0]]))
    >>> opinion.belief, opinion.uncertainty
    (tensor([[0.6000, 0.1000, 0.0000]], dtype=torch.float64), tensor([0.3000], dtype=torch.float64))
    """

    log_growth: Tensor

    @classmethod
    def from_evidence(cls, evidence: Tensor) -> Opinion:
        """Form opinions from non-negative, finite ``evidence`` [B, C]."""
        return cls(torch.log1p(evidence.double() / evidence.shape[-1]))

    @property
    def classes(self) -> int:
        """Number of classes, C."""
        return self.log_growth.shape[-1]

    @cached_property
    def _largest(self) -> Tensor:
        return self.log_growth.detach().amax(dim=-1, keepdim=True)

    @cached_property
    def _scaled_evidence(self) -> Tensor:
        """Evidence / C * exp(-largest), without ever forming the evidence."""
        return (self.log_growth - self._largest).exp() * -torch.expm1(-self.log_growth)

    @cached_property
    def _scaled_total(self) -> Tensor:
        """Strength / C * exp(-largest); at least 1 up to rounding."""
        return self._scaled_evidence.sum(dim=-1, keepdim=True) + (-self._largest).exp()

    @cached_property
    def belief(self) -> Tensor:
        """Belief mass of each class [B, C]; with the uncertainty it adds up to 1."""
        return self._scaled_evidence / self._scaled_total

    @cached_property
    def uncertainty(self) -> Tensor:
        """Vacuity: the mass that no evidence has claimed [B]; not a probability of error."""
        return self.log_uncertainty.exp()

    @cached_property
    def log_uncertainty(self) -> Tensor:
        """log(uncertainty) [B], finite even where the uncertainty itself underflows to 0."""
        return -(self._largest + self._scaled_total.log()).squeeze(-1)

    def log_certainty(self, epsilon: float = 1e-6) -> Tensor:
        """log(1 - uncertainty) [B] as log(sum e + epsilon) - log(sum e + C)."""
        nothing = (epsilon / self.classes) * (-self._largest).exp()
        claimed = self._scaled_evidence.sum(dim=-1, keepdim=True) + nothing
        return (claimed.log() - self._scaled_total.log()).squeeze(-1)

    @cached_property
    def log_strength(self) -> Tensor:
        """log of the Dirichlet strength, C + sum of evidence [B]."""
        return math.log(self.classes) - self.log_uncertainty

    @cached_property
    def log_alpha(self) -> Tensor:
        """log of the Dirichlet parameters, evidence + 1 [B, C]."""
        return self.log_growth + torch.log1p(-(self.classes - 1) * torch.expm1(-self.log_growth))

    @cached_property
    def strength(self) -> Tensor:
        """Dirichlet strength [B], held at about 1e304."""
        return self.log_strength.clamp(max=LARGEST).exp()

    @cached_property
    def alpha(self) -> Tensor:
        """Dirichlet parameters [B, C], held at about 1e304."""
        return self.log_alpha.clamp(max=LARGEST).exp()

    @cached_property
    def evidence(self) -> Tensor:
        """Evidence [B, C], held at about C times 1e304."""
        return self.classes * torch.expm1(self.log_growth.clamp(max=LARGEST))

    @cached_property
    def probability(self) -> Tensor:
        """Expected class probabilities alpha / strength [B, C]."""
        return self.belief + self.uncertainty.unsqueeze(-1) / self.classes

    @cached_property
    def predicted(self) -> Tensor:
        """Class with the most evidence [B]; ``NO_OPINION`` (-1) where there is none at all.

        An argmax over equal nothings would silently vote for class 0.
        """
        best, where = self.log_growth.max(dim=-1)
        return where.masked_fill(best == 0, NO_OPINION)

    def decided(self, fallback: int | Tensor) -> Tensor:
        """Predicted class [B], with ``fallback`` where there is no evidence at all."""
        return torch.where(self.predicted == NO_OPINION, fallback, self.predicted)

    @cached_property
    def expected_entropy(self) -> Tensor:
        """Entropy of the class probabilities, averaged over the Dirichlet [B]."""
        return (
            self._excess(self.log_strength)
            + self.log_strength
            - (self.probability * (self._excess(self.log_alpha) + self.log_alpha)).sum(dim=-1)
        )

    @cached_property
    def mutual_information(self) -> Tensor:
        """Entropy of the expected probabilities minus the expected entropy [B], never < 0."""
        excess = (self.probability * self._excess(self.log_alpha)).sum(dim=-1)
        return (excess - self._excess(self.log_strength)).clamp(min=0)

    @staticmethod
    def _excess(log_x: Tensor) -> Tensor:
        """digamma(x + 1) - log(x)."""
        return digamma(log_x) + (-log_x).exp() - log_x

    @cached_property
    def dissonance(self) -> Tensor:
        """How much the beliefs contradict each other [B]: near 1 for equal, firm, rival beliefs.

        sum_c b_c * (sum_{j != c} b_j * balance(b_j, b_c)) / sum_{j != c} b_j with
        balance(a, b) = 1 - abs(a - b) / (a + b). One class at a time keeps memory at [B, C].
        """
        belief = self.belief
        total = torch.zeros_like(self.log_uncertainty)
        for current in range(self.classes):
            own = belief[:, current : current + 1]
            others = torch.cat([belief[:, :current], belief[:, current + 1 :]], dim=-1)
            both = own + others
            # b_j * balance(b_j, b_c) = 2 b_j min(b_j, b_c) / (b_j + b_c)
            balanced = (
                2 * others * torch.minimum(own, others) / both.masked_fill(both < NOTHING, 1.0)
            )
            rivals = others.sum(dim=-1)
            share = balanced.sum(dim=-1) / rivals.masked_fill(rivals < NOTHING, 1.0)
            total = total + own.squeeze(-1) * share
        return total
