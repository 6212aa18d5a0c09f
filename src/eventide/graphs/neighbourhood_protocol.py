"""The interface between networks and neighbourhoods, with or without stored edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from torch import Tensor

from eventide.graphs.incidence import Ints


class Constant(Protocol):
    """Neighbourhood averages of values that never change (layer 1's features)."""

    def average(self, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """As ``Neighbourhood.average``; gradients flow to ``rates`` alone."""


class Surroundings(Protocol):
    """All messages that some messages average over."""

    @property
    def sources(self) -> Tensor:
        """The rows of all neighbours in ascending order, including the messages themselves."""

    @property
    def own(self) -> Tensor:
        """The index of each message itself among the sources."""

    def average(self, values: Tensor, rates: Tensor) -> Tensor:
        """As ``Neighbourhood.average``, given the values of the sources alone."""


class Neighbourhood(Protocol):
    """Time-weighted averages over the neighbours of messages (equation ``eq_temGnn``).

    average_i = sum over j in N(i) of a_ij * values_j,
    a_ij = softmax over N(i) of -rate_i * abs(t_i - t_j); N(i) contains i, and each message once.
    """

    def __len__(self) -> int:
        """How many messages there are."""

    def average(self, values: Tensor, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average ``values`` [messages, width] around ``rows`` (all if None).

        ``rates`` has one entry for each of ``rows``; the result is [len(rows), width].
        Differentiable in ``values`` and ``rates``.
        """

    def around(self, rows: Tensor) -> Surroundings:
        """Find all messages that ``rows`` average over, so that no others need be computed."""

    def constant(self, values: Tensor) -> Constant:
        """Prepare averages of values that never change, for any rates and rows."""


class Shared(Protocol):
    """States that several steps of training read, and the gradients that these send back."""

    def read(self, rows: Ints, source: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """Return the states of ``rows``, and how to average around them given their rates.

        Whatever ``source``, a scalar with a gradient, depends on learns after all that was read.
        """

    def close(self) -> None:
        """Let go of what was to be read."""

    def total(self) -> Tensor:
        """Return the mean over the steps of the gradient of all states; nobody reads after it."""


class SharingNeighbourhood(Neighbourhood, Protocol):
    """A neighbourhood whose states several steps may read."""

    def share(self, states: Tensor, rows: Ints) -> Shared:
        """Let several steps read ``states`` [messages, width], around ``rows`` alone."""

    def kept_rows(self) -> int:
        """Rows of values that an average around all messages keeps for its gradient."""


class Lookup(Protocol):
    """New messages that read a memory and add nothing to it."""

    def average(self, memory_values: Any, own_values: Tensor, rates: Tensor) -> Tensor:
        """Average over neighbours in the memory and the message itself.

        ``memory_values`` are [memory, width], or a form that the memory prepared for faster reads.
        ``own_values`` [new, width] and ``rates`` [new] belong to the new messages.
        """
