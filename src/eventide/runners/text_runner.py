"""Where a network runs that reads one message at a time: no graph, no neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from eventide.corpus.corpus import Corpus, Ints
from eventide.networks.multi_view import ViewOutput
from eventide.networks.settings import NetworkSettings
from eventide.networks.trainable import TrainableNetwork
from eventide.runners.runner import NOBODY, Arrays, Outputs, checked_states, leave_training
from eventide.runtime.lazy import Lazy

VIEW = "text"
Read = Callable[[Corpus], Tensor]


class TextNetwork(TrainableNetwork):
    """From what was read of messages [B, ...] to their embeddings [B, d] and logits [B, C]."""

    at_once = 8192
    """How many messages run in one go; a larger batch runs in parts, which changes nothing else."""

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return embeddings and logits."""
        raise NotImplementedError

    def order(self, inputs: Tensor) -> Tensor:
        """Return in which order to run messages, so that those of like length come together."""
        return torch.arange(len(inputs), device=inputs.device)


class TextRunner:
    """The network beside what was read of the memory; a memory that was loaded cannot be read."""

    def __init__(
        self,
        network: TextNetwork,
        corpus: Corpus,
        read: Read,
        settings: NetworkSettings,
        device: torch.device,
    ) -> None:
        self.network = network.to(device).eval()
        self.device = device
        self._read = read
        self._settings = settings
        self._memory = corpus
        self._inputs = Lazy(self._remembered)

    def learn(self, rows: Ints, *, ahead: Ints = NOBODY) -> Outputs:
        """Run remembered messages in training mode, with gradients."""
        self.network.train()
        return self._outputs(self._inputs.get()[torch.from_numpy(rows)])

    @torch.no_grad()
    def evaluate(self, rows: Ints) -> Outputs:
        """Run remembered messages in evaluation mode."""
        leave_training(self.network)
        return self._outputs(self._inputs.get()[torch.from_numpy(rows)])

    def look_up(self, corpus: Corpus) -> Tensor:
        """Read new messages."""
        return self._read(corpus).to(self.device)

    @torch.no_grad()
    def evaluate_new(self, found: Tensor) -> Outputs:
        """Run new messages in evaluation mode."""
        leave_training(self.network)
        return self._outputs(found)

    def neighbours(self, rows: Ints) -> dict[str, Ints]:
        """Return nothing: there are no views."""
        return {}

    def neighbours_new(self, found: Tensor) -> dict[str, Ints]:
        """Return nothing: there are no views."""
        return {}

    def rest(self) -> None:
        """End training; nothing computed with older weights is kept."""
        leave_training(self.network)

    def memory_states(self) -> Arrays:
        """Return nothing: new messages do not read the memory."""
        return {}

    def recall_states(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take nothing back; raise ValueError if there is something."""
        checked_states(arrays, {})

    def _remembered(self) -> Tensor:
        return self._read(self._memory).to(self.device)

    def _outputs(self, inputs: Tensor) -> Outputs:
        order = self.network.order(inputs)
        parts = [self.network(inputs[rows]) for rows in torch.split(order, self.network.at_once)]
        back = torch.argsort(order)
        embeddings, logits = (torch.cat(part)[back] for part in zip(*parts, strict=True))
        return {VIEW: ViewOutput(embeddings, logits, self._settings)}
