"""What the graph adds: the whole method beside what is left when parts of it are taken away."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.comparison.controls import WHOLE
from eventide.comparison.results import Results
from eventide.reports.tables.comparison import (
    ACCURACY,
    MACRO_F1,
    NAME,
    OTHERS,
    RUNS,
    caveats,
    measured,
    titled,
)
from eventide.reports.tables.table import Cell, Column, Figure, Table

CHANGE = Column("accuracy_change", "ACC change", scale=100, signed=True)
CONTROL_COLUMNS = (NAME, ACCURACY, CHANGE, MACRO_F1, *OTHERS, RUNS)


def controls(results: Results, names: Sequence[str]) -> Table:
    """Lay out the controls; the change is against the whole method on the same seeds."""
    rows: list[list[Cell]] = []
    for each in names:
        accuracy, f1, *others = measured(results, each)
        against = results.difference(each, WHOLE.name) if each != WHOLE.name else None
        change = None if against is None else Figure(against.t_test.difference)
        rows.append([each, accuracy, change, f1, *others, len(results.outcomes(each))])
    notes = [
        *caveats(results, names),
        "Without graph (no-graph) every message is its own only neighbour, network and heads as "
        "they are; without time (no-time) neighbours weigh the same at any distance; with the "
        "author, the user view connects messages of one author too",
    ]
    return Table.build("controls", titled("Controls", results), CONTROL_COLUMNS, rows, notes)
