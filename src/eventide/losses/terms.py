"""Terms of an objective: a loss, its weight, and how its values become one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, cast

import torch
from torch import Tensor, nn

from eventide.errors import BadSetting
from eventide.losses import LOSSES
from eventide.losses.loss_inputs import Loss, LossInputs, Outputs, Reduction
from eventide.losses.reduction import batch_mean

Weight = float | Callable[[int], float]
"""The factor of a term in the total, or a function of the epoch."""

READ: Mapping[str, Callable[[LossInputs], Any]] = {
    "opinion": lambda inputs: inputs.fused,
    "logits": lambda inputs: inputs.logits,
    "views": lambda inputs: inputs.embeddings,
    "labels": lambda inputs: inputs.labels,
    "counts": lambda inputs: inputs.statistics.counts,
    "statistics": lambda inputs: inputs.statistics,
    "epoch": lambda inputs: inputs.epoch,
}
"""Arguments that a registered loss may ask for, beside ``embeddings``, and where they are."""
PER_VIEW = "embeddings"


class RegisteredLoss:
    """The loss that is registered under ``name``, called with what its arguments ask for.

    ``options`` are further arguments of it. A loss on ``embeddings`` is summed over the views.

    >>> RegisteredLoss("scl").asks
    ('embeddings', 'labels')
    """

    def __init__(self, name: str, **options: Any) -> None:
        self._function: Callable[..., Tensor] = LOSSES.load(name)
        self._options = options
        known = (*READ, PER_VIEW)
        arguments = signature(self._function).parameters.values()
        unknown = [
            each.name
            for each in arguments
            if each.name not in (*known, *options) and each.default is Parameter.empty
        ]
        if unknown:
            raise BadSetting(
                f"the loss {name!r} asks for {', '.join(unknown)}",
                next_step=f"a loss reads {', '.join(known)}; give other arguments a default",
            )
        self.asks = tuple(each.name for each in arguments if each.name in known)

    def __call__(self, inputs: LossInputs) -> Tensor:
        """Return the loss of each message [B]."""
        read = {name: READ[name](inputs) for name in self.asks if name != PER_VIEW}
        if PER_VIEW not in self.asks:
            return self._function(**read, **self._options)
        per_view = [
            self._function(**{PER_VIEW: each}, **read, **self._options)
            for each in inputs.embeddings
        ]
        return torch.stack(per_view).sum(dim=0)


class Term(nn.Module):
    """One term of the total loss: weight * reduction of the values of a loss.

    A loss that is a module trains and is saved with the term. If it has ``observe``, that is called
    with the outputs and labels of all training messages before the first epoch and after each. If
    it has ``project``, that is called after every step of the optimiser.
    """

    def __init__(self, loss: Loss, weight: Weight = 1.0, reduction: Reduction = batch_mean) -> None:
        super().__init__()
        self.loss = loss
        self._weight = weight
        self._reduction = reduction

    @property
    def asks(self) -> Sequence[str]:
        """Names of what the loss reads, where they are known."""
        return cast(Sequence[str], getattr(self.loss, "asks", ()))

    @property
    def observes(self) -> bool:
        """Whether ``observe`` does anything: a pass over all training messages is not free."""
        return bool(getattr(self.loss, "observes", False))

    def weight(self, epoch: int) -> float:
        """Return the factor of this term in an epoch."""
        return self._weight(epoch) if callable(self._weight) else self._weight

    def values(self, inputs: LossInputs) -> Tensor:
        """Return one value per message [B]."""
        return self.loss(inputs)

    def forward(self, inputs: LossInputs) -> Tensor:
        """Return the term of a batch, a scalar, before its weight."""
        return self._reduction(self.values(inputs), inputs)

    def project(self) -> None:
        """After a step: bring weights back to where the loss wants them, onto a sphere, say."""
        project = getattr(self.loss, "project", None)
        if project is not None:
            project()

    def observe(self, outputs: Outputs, labels: Tensor, epoch: int) -> None:
        """Show all training messages to a loss that follows them."""
        if self.observes:
            self.loss.observe(outputs, labels, epoch)  # type: ignore[attr-defined]
