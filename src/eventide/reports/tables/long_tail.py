"""The paper's comparison with methods of long-tail recognition (its table_ltr)."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.comparison.results import Results
from eventide.reports.tables.comparison import comparison
from eventide.reports.tables.table import Table


def long_tail(results: Results, names: Sequence[str]) -> Table:
    """Compare with methods of long-tail recognition."""
    return comparison(results, names, "long-tail", "Comparison with long-tail methods")
