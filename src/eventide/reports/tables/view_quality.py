"""The paper's table of view quality: how many edges a view has, and how many join one event."""

from __future__ import annotations

from eventide.comparison.material import Material
from eventide.reports.facts.quality import WHY_DIFFERENT, quality
from eventide.reports.tables.table import Column, Figure, Table

COLUMNS = (
    Column("view", "view", words=True),
    Column("edges", "edges"),
    Column("purity", "within one event", digits=4, best="high"),
    Column("paper_purity", "paper's", digits=4),
)


def view_quality(material: Material) -> Table:
    """Count edges and their share within one event, for each view and for all together."""
    found = quality(material.messages, material.name)
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
    return Table.build("view-quality", f"View quality: {material.name}", COLUMNS, rows, notes)
