"""Randomness that comes from a generator of our own: initialisation, and dropout.

PyTorch's modules draw from one global stream; a run that must be repeatable, resumable and free of
side effects cannot share that stream with whoever else uses it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def seeded_linear(
    inputs: int, outputs: int, *, bias: bool, generator: torch.Generator
) -> nn.Linear:
    """Make a linear map with Xavier-uniform weights and zero bias, drawn from ``generator``."""
    layer = _UnsetLinear(inputs, outputs, bias=bias)
    bound = math.sqrt(6 / (inputs + outputs))
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=generator)
        if bias:
            layer.bias.zero_()
    return layer


class _UnsetLinear(nn.Linear):
    """A linear map whose weights nobody has drawn yet, neither from the global stream.

    Building it on the device "meta" instead would make torch import its symbolic shapes and sympy,
    which takes half a second.
    """

    def reset_parameters(self) -> None:
        """Leave the weights as they are: PyTorch would draw them from its global stream."""


class Noise:
    """A stream of dropout masks with a state that a checkpoint can keep.

    The stream itself lives on the CPU and hands a fresh seed to the device that needs a mask, so
    that the state is one small tensor whatever the device.
    """

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self.worker = 0
        """Which of several workers draws: each has masks of its own from the same stream."""

    @property
    def state(self) -> Tensor:
        """What to store in a checkpoint."""
        return self._generator.get_state()

    @state.setter
    def state(self, state: Tensor) -> None:
        self._generator.set_state(state)

    def seed(self) -> int:
        """Draw a fresh seed, for whatever cannot draw from this stream itself."""
        return int(torch.randint(2**62, (), generator=self._generator))

    def keep_mask(self, like: Tensor, rate: float) -> Tensor:
        """Draw a mask of the shape of ``like``: True with probability 1 - ``rate``."""
        generator = torch.Generator(device=like.device).manual_seed(self.seed() + self.worker)
        return torch.rand(like.shape, generator=generator, device=like.device) >= rate


class Dropout(nn.Module):
    """Zero a share of the values while training and scale up the rest, from a ``Noise`` stream."""

    def __init__(self, rate: float, noise: Noise) -> None:
        super().__init__()
        self.rate = rate
        self.noise = noise

    def forward(self, values: Tensor) -> Tensor:
        """Return ``values`` unchanged in evaluation, or thinned out in training."""
        if not self.training or self.rate == 0:
            return values
        return values * self.noise.keep_mask(values, self.rate) / (1 - self.rate)
