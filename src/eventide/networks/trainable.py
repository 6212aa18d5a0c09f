"""What the training loop asks of any network: parts that can be trained alone, and its noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

from torch import nn

from eventide.networks.initialisation import Noise

Part = Literal["all", "encoder", "classifier"]


class TrainableNetwork(nn.Module):
    """A network of an encoder and a classifier; ``noise`` is where all its randomness comes from.

    A part that is not trained has no gradient and runs as in evaluation, without dropout.
    """

    def __init__(self, noise: Noise) -> None:
        super().__init__()
        self.noise = noise
        self._trained: Part = "all"

    def modules_of(self, part: Literal["encoder", "classifier"]) -> Iterator[nn.Module]:
        """Yield the modules that make up a part."""
        raise NotImplementedError

    def train_only(self, part: Part) -> None:
        """From now on train this part and leave the other as it is."""
        self._trained = part
        for each in ("encoder", "classifier"):
            for module in self.modules_of(each):
                module.requires_grad_(part in ("all", each))

    def train(self, mode: bool = True) -> Self:
        """Enter training or evaluation; frozen parts stay in evaluation."""
        super().train(mode)
        if mode and self._trained != "all":
            frozen = self.modules_of("classifier" if self._trained == "encoder" else "encoder")
            for module in frozen:
                module.eval()
        return self
