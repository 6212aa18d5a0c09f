"""Which tables a comparison calls for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from eventide.experiments.choice import groups
from eventide.experiments.prepared import ExperimentData
from eventide.experiments.results import Results
from eventide.reports.profile.connections import WHY_DIFFERENT, quality
from eventide.reports.tables.comparison_tables import (
    ablation,
    comparison,
    controls,
    event_detection,
    long_tail,
    seconds,
)
from eventide.reports.tables.significance_table import chosen_reference, significance
from eventide.reports.tables.table import Column, Figure, Table

COLUMNS = (
    Column("view", "view", words=True),
    Column("edges", "edges"),
    Column("purity", "within one event", digits=4, best="high"),
    Column("paper_purity", "paper's", digits=4),
)


def view_quality(data: ExperimentData) -> Table:
    """Count edges and their share within one event, for each view and for all together."""
    found = quality(data.messages, data.name)
    rows = [
        (
            each.view,
            each.edges,
            None if each.purity is None else Figure(each.purity),
            None if each.paper is None else Figure(each.paper),
        )
        for each in found
    ]
    notes = (
        [WHY_DIFFERENT.removesuffix(".")] if any(each.paper is not None for each in found) else []
    )
    return Table.build("view-quality", f"View quality: {data.name}", COLUMNS, rows, notes)


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
    data: ExperimentData | None = None,
    reference: str | None = None,
) -> list[Table]:
    """Return one table per group asked for, one of the other variants, and what goes with them.

    Differences from ``reference`` (by default ours) are there if it ran, view quality if
    ``data`` is given. Every table names the code that made it.
    """
    names = [each.name for each in results.variants]
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
    if data is not None:
        found.append(view_quality(data))
    return [replace(each, data=results.plan.dataset, code=results.made_by) for each in found]
