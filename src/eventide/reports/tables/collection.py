"""Which tables a comparison calls for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from eventide.comparison.groups import groups
from eventide.comparison.material import Material
from eventide.comparison.results import Results
from eventide.reports.tables.ablation import ablation
from eventide.reports.tables.comparison import comparison
from eventide.reports.tables.controls import controls
from eventide.reports.tables.event_detection import event_detection
from eventide.reports.tables.long_tail import long_tail
from eventide.reports.tables.seconds import seconds
from eventide.reports.tables.significance import chosen_reference, significance
from eventide.reports.tables.table import Table
from eventide.reports.tables.view_quality import view_quality

OF_GROUP: dict[str, Callable[[Results, Sequence[str]], Table]] = {
    "event-detection": event_detection,
    "long-tail": long_tail,
    "ablation": ablation,
    "controls": controls,
}
TABLES = (*OF_GROUP, "comparison", "significance", "seconds", "view-quality")
"""What the tables of a comparison can be called."""
GRID = "ablation-grid"
"""The whole grid goes into the table of ablations."""


def collect(
    results: Results,
    asked: Sequence[str] = (),
    *,
    material: Material | None = None,
    reference: str | None = None,
) -> list[Table]:
    """Return one table per group asked for, one of the other contestants, and what goes with them.

    Differences from ``reference`` (by default ours) are there if it ran, view quality if
    ``material`` is given. Every table names the code that made it.
    """
    names = [each.name for each in results.contestants]
    reference = chosen_reference(names, reference)
    members = {name: [each.name for each in group] for name, group in groups().items()}
    found, shown = [], set()
    for group, table in OF_GROUP.items():
        parts = [part for part in asked if part == group or (group, part) == ("ablation", GRID)]
        own = [name for part in parts for name in members[part] if name in names]
        if own:
            found.append(table(results, own))
            shown.update(own)
    rest = [name for name in names if name not in shown]
    if rest:
        found.append(comparison(results, rest if found else names))
    if len(results.outcomes(reference)) and len(names) > 1:
        found.append(significance(results, names, reference))
    found.append(seconds(results, names))
    if material is not None:
        found.append(view_quality(material))
    return [replace(each, data=results.plan.dataset, code=results.made_by) for each in found]
