"""Randomness that comes from a generator of our own: initialisation, and dropout.

PyTorch's modules draw from one global stream; a run that must be repeatable, resumable and free of
side effects cannot share that stream with whoever else uses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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


DRAWN_AT_ONCE = 1_024
"""Rows of a mask that are drawn at a time where only some of them are wanted."""


@dataclass(frozen=True, eq=False)
class MaskRows:
    """Where some values lie in a mask of ``drawn`` rows, which workers draw alike.

    Row ``rows[i]`` of the values has row ``places[i]`` of the mask; places ascend. Nobody reads the
    other rows of the values: they are kept whole.
    """

    drawn: int
    rows: Tensor
    places: Tensor


class Noise:
    """A stream of dropout masks with a state that a checkpoint can keep.

    The stream itself lives on the CPU and hands a fresh seed to the device that needs a mask, so
    that the state is one small tensor whatever the device.
    """

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

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

    def keep_mask(self, like: Tensor, rate: float, part: MaskRows | None = None) -> Tensor:
        """Draw a mask of the shape of ``like``: True with probability 1 - ``rate``.

        With a ``part`` it has those rows of a larger mask, the same that one process draws.
        """
        generator = torch.Generator(device=like.device).manual_seed(self.seed())
        if part is None:
            return torch.rand(like.shape, generator=generator, device=like.device) >= rate
        mask = torch.ones_like(like, dtype=torch.bool)
        # A processor's stream goes on where it ended; that of a GPU depends on the whole shape.
        step = DRAWN_AT_ONCE if like.device.type == "cpu" else max(part.drawn, 1)
        for first in range(0, part.drawn, step):
            size = (min(step, part.drawn - first), *like.shape[1:])
            drawn = torch.rand(size, generator=generator, device=like.device)
            ends = part.places.new_tensor([first, first + step])
            low, high = torch.searchsorted(part.places, ends).tolist()
            mask[part.rows[low:high]] = drawn[part.places[low:high] - first] >= rate
        return mask


class Dropout(nn.Module):
    """Zero a share of the values while training and scale up the rest, from a ``Noise`` stream."""

    def __init__(self, rate: float, noise: Noise) -> None:
        super().__init__()
        self.rate = rate
        self.noise = noise

    @property
    def active(self) -> bool:
        """Whether a mask is drawn: in training, and where anything is to be zeroed."""
        return self.training and self.rate > 0

    def forward(self, values: Tensor, part: MaskRows | None = None) -> Tensor:
        """Return ``values`` unchanged in evaluation, or thinned out in training."""
        if not self.active:
            return values
        return (values * self.noise.keep_mask(values, self.rate, part)).div_(1 - self.rate)
