"""What the networks need of one view: its neighbourhoods, and their averages of the features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from eventide.graphs.protocol import Constant, Neighbourhood


@dataclass(frozen=True, eq=False)
class ViewGraph:
    """One view of all messages; ``values`` [N, features] must not change afterwards."""

    neighbourhood: Neighbourhood
    values: Tensor

    @cached_property
    def features(self) -> Constant:
        """Averages of the features, prepared when first asked for and kept."""
        return self.neighbourhood.constant(self.values)
