"""What the networks may ask of a neighbourhood, whether it stores edges or not."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor


class Constant(Protocol):
    """Neighbourhood averages of values that never change (layer 1's features)."""

    def average(self, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """As ``Neighbourhood.average``; gradients flow to ``rates`` alone."""


class Stale(Protocol):
    """Neighbourhood averages over values computed earlier, for messages with newer ones."""

    def average(self, own: Tensor, rates: Tensor, rows: Tensor) -> Tensor:
        """Average around ``rows``, each once, whose values now are ``own``; the others' are old.

        Differentiable in ``own`` and ``rates``.
        """


class Surroundings(Protocol):
    """Everybody that some messages average over."""

    @property
    def sources(self) -> Tensor:
        """The rows of all neighbours in ascending order, the messages themselves among them."""

    @property
    def places(self) -> Tensor:
        """Where the messages themselves stand among the sources."""

    def average(self, values: Tensor, rates: Tensor) -> Tensor:
        """As ``Neighbourhood.average``, given the values of the sources alone."""


class Neighbourhood(Protocol):
    """Time-weighted averages over the neighbours of messages (equation ``eq_temGnn``).

    average_i = sum over j in N(i) of a_ij * values_j,
    a_ij = softmax over N(i) of -rate_i * abs(t_i - t_j), with i itself in N(i), everybody once.
    """

    def __len__(self) -> int:
        """How many messages there are."""

    def average(self, values: Tensor, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average ``values`` [messages, width] around ``rows`` (all if None).

        ``rates`` has one entry for each of ``rows``; the result is [len(rows), width].
        Differentiable in ``values`` and ``rates``.
        """

    def around(self, rows: Tensor) -> Surroundings:
        """Find everybody that ``rows`` average over, so that nobody else need be computed."""

    def constant(self, values: Tensor) -> Constant:
        """Prepare averages of values that never change, for any rates and rows."""

    def stale(self, values: Tensor) -> Stale:
        """Prepare averages over ``values`` that few messages will have outgrown."""


class Lookup(Protocol):
    """New messages that read a memory and add nothing to it."""

    def average(self, memory_values: Any, own_values: Tensor, rates: Tensor) -> Tensor:
        """Average over memory neighbours and oneself.

        ``memory_values`` are [memory, width], or what the memory made of them to read them faster.

        ``own_values`` [new, width] and ``rates`` [new] belong to the new messages.
        """
