"""The paper's comparison with methods of social event detection (its table_sed)."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.comparison.results import Results
from eventide.reports.tables.comparison import comparison
from eventide.reports.tables.table import Table


def event_detection(results: Results, names: Sequence[str]) -> Table:
    """Compare with methods of social event detection."""
    return comparison(results, names, "event-detection", "Comparison with event-detection methods")
