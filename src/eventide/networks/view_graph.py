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

    @classmethod
    def once(cls, neighbourhood: Neighbourhood, features: Tensor) -> ViewGraph:
        """Build it for a single pass: nothing is prepared that only many passes would pay for."""
        return cls(_Unprepared(neighbourhood, features), neighbourhood)


@dataclass(frozen=True, eq=False)
class _Unprepared:
    """Averages of features that are computed whenever they are asked for."""

    neighbourhood: Neighbourhood
    values: Tensor

    def average(self, rates: Tensor, rows: Tensor | None = None) -> Tensor:
        """Average around ``rows`` (all if None)."""
        return self.neighbourhood.average(self.values, rates, rows)
