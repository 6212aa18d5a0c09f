"""From an embedding to evidence (never negative), or to another space (projector)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from eventide.networks.initialisation import Dropout, MaskRows, Noise, seeded_linear
from eventide.networks.settings import NetworkSettings
from eventide.tensors import unit_rows, widen


def evidence_of(logits: Tensor, settings: NetworkSettings) -> Tensor:
    """Turn logits [n, C] into non-negative, finite evidence of the same shape.

    `relu` is the paper's reading but has no gradient where a class has no evidence; `softplus` and
    `exp` always have one. `exp` bends its logits smoothly into (-bound, bound): beyond a cut
    no gradient could take evidence back. Half precision is widened first: evidence multiplies
    across views. In units of the number of classes C it is C times as much.

    >>> evidence_of(torch.tensor([[-1.0, 2.0]]), NetworkSettings()).tolist()
    [[0.0, 2.0]]
    >>> evidence_of(torch.tensor([[-1.0, 2.0]]), NetworkSettings(evidence_unit="classes")).tolist()
    [[0.0, 4.0]]
    """
    unit = logits.shape[-1] if settings.evidence_unit == "classes" else 1
    return unit * _evidence(widen(logits) / settings.temperature, settings)


def _evidence(wide: Tensor, settings: NetworkSettings) -> Tensor:
    match settings.evidence:
        case "relu":
            return functional.relu(wide)
        case "softplus":
            return functional.softplus(wide)
        case "exp":
            return (settings.logit_bound * torch.tanh(wide / settings.logit_bound)).exp()


class EvidenceHead(nn.Module):
    """Linear, ReLU, and a linear or cosine classifier: one logit per class from an embedding.

    Or the cosines with class vectors alone, without a hidden layer (``prototypes``).
    """

    def __init__(
        self,
        inputs: int,
        classes: int,
        settings: NetworkSettings,
        *,
        generator: torch.Generator,
        noise: Noise,
    ) -> None:
        super().__init__()
        self.settings = settings
        linear, width = settings.classifier == "linear", settings.head_hidden
        self.hidden = None
        if settings.classifier == "prototypes":
            width = inputs
        else:
            self.hidden = seeded_linear(inputs, width, bias=True, generator=generator)
        self.output = seeded_linear(width, classes, bias=linear, generator=generator)
        self.dropout = Dropout(settings.head_dropout, noise)
        self.prior: Tensor | None = None
        """What is added to the logits while training [C]; never to a prediction."""

    @property
    def prototypes(self) -> Tensor | None:
        """One vector per class [C, inputs] where embeddings are compared with them, else None."""
        return self.output.weight if self.hidden is None else None

    def forward(self, embeddings: Tensor, mask: MaskRows | None = None) -> Tensor:
        """Map embeddings [n, inputs] to logits [n, C]; ``evidence_of`` makes them evidence.

        A cosine classifier's logits are scale * cosine(hidden values, weights of the class).
        ``mask``: where the messages lie in the dropout mask, if they are not all.
        """
        logits = self._logits(embeddings, mask)
        if self.prior is None or not self.training:
            return logits
        return logits + self.prior.to(logits)

    def hidden_values(self, embeddings: Tensor, mask: MaskRows | None = None) -> Tensor:
        """Return what the classifier reads: the hidden layer's values, or the embeddings."""
        if self.hidden is None:
            return embeddings
        return cast(Tensor, self.dropout(functional.relu(self.hidden(embeddings)), mask))

    def _logits(self, embeddings: Tensor, mask: MaskRows | None) -> Tensor:
        hidden = self.hidden_values(embeddings, mask)
        if self.settings.classifier == "linear":
            return cast(Tensor, self.output(hidden))
        directions = unit_rows(widen(self.output.weight))
        return self.settings.cosine_scale * functional.linear(unit_rows(widen(hidden)), directions)


class Projector(nn.Module):
    """Linear, ReLU, linear; its initialisation comes from ``generator``."""

    def __init__(
        self, inputs: int, hidden: int, outputs: int, *, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.hidden = seeded_linear(inputs, hidden, bias=True, generator=generator)
        self.output = seeded_linear(hidden, outputs, bias=True, generator=generator)

    def forward(self, values: Tensor) -> Tensor:
        """Map values [n, inputs], in full precision, to [n, outputs]."""
        return cast(Tensor, self.output(functional.relu(self.hidden(widen(values)))))
