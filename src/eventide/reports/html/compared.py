"""What the page of a comparison shows: results by regime, the reference, tables and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.results import Difference, Results
from eventide.reports.tables.comparison_tables import tested
from eventide.reports.tables.regime_significance import regime_differences
from eventide.reports.tables.table import Table


@dataclass(frozen=True)
class Compared:
    """Results to show: one part, or one for each regime by its name; ``reference`` is a method.

    ``events`` are the names of the classes in their order, where they are known.
    """

    parts: RegimeResults
    reference: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    winners: Sequence[str] = ()
    command: str = ""
    events: Sequence[str] = ()

    @property
    def first(self) -> Results:
        """The first part: of a plain comparison, the only one."""
        return next(iter(self.parts.parts.values()))

    @cached_property
    def differences(self) -> Mapping[str, Mapping[str, Difference]]:
        """How far each method is from the reference, by part."""
        return regime_differences(self.parts, self.reference)

    @cached_property
    def names(self) -> list[str]:
        """The methods, the most accurate first."""
        means: dict[str, list[float]] = {}
        for part in self.parts.parts.values():
            for each in part.variants:
                found = part.spread(each.name, tested("accuracy"))
                means.setdefault(each.name, []).extend([] if found is None else [found.mean])
        done = {name: float(np.mean(own)) for name, own in means.items() if own}
        return sorted(done, key=lambda name: -done[name])
