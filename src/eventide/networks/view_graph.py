"""What the networks need of one view: its neighbourhoods, and their averages of the features."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from eventide.graphs.protocol import Constant, Neighbourhood


@dataclass(frozen=True, eq=False)
class ViewGraph:
    """One view of all messages, ready for the encoder."""

    features: Constant
    neighbourhood: Neighbourhood

    @classmethod
    def of(cls, neighbourhood: Neighbourhood, features: Tensor) -> ViewGraph:
        """Build it from prepared ``features`` [N, features], which must not change afterwards."""
        return cls(neighbourhood.constant(features), neighbourhood)
