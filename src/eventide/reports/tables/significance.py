"""Differences of accuracy from a reference, and whether luck explains them."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.comparison.results import Results
from eventide.reports.tables.comparison import NAME, titled
from eventide.reports.tables.table import Cell, Column, Figure, Table
from eventide.scoring.significance import ENOUGH_RUNS

REFERENCE = "ucl-ec"
COLUMNS = (
    NAME,
    Column("difference", "ACC difference", scale=100, signed=True),
    Column("low", "from", scale=100, signed=True),
    Column("high", "to", scale=100, signed=True),
    Column("p_messages", "p (messages)", digits=4),
    Column("p_runs", "p (runs)", digits=4),
    Column("messages", "messages"),
    Column("runs", "runs"),
)


def significance(results: Results, names: Sequence[str], reference: str = REFERENCE) -> Table:
    """Compare every contestant with the reference on the seeds that both finished."""
    rows: list[list[Cell]] = []
    for each in names:
        found = results.difference(each, reference) if each != reference else None
        if found is None:
            continue
        luck, runs = found.bootstrap, found.t_test
        rows.append(
            [
                each,
                Figure(luck.difference),
                Figure(luck.low),
                Figure(luck.high),
                Figure(luck.p_value),
                None if runs.p_value is None else Figure(runs.p_value),
                luck.messages,
                runs.runs,
            ]
        )
    notes = [
        "By messages: paired bootstrap over test messages within each run, 10,000 draws, with its "
        "95 % interval; messages that several runs test count once for each. By runs: corrected "
        "resampled t-test over seeds. Neither is corrected for the number of comparisons"
    ]
    fewest = min((row[-1] for row in rows if isinstance(row[-1], int)), default=0)
    if fewest < ENOUGH_RUNS:
        notes.append(f"Too few runs: p (runs) says little below {ENOUGH_RUNS}, here {fewest}")
    title = titled(f"Accuracy against {reference}", results)
    return Table.build("significance", title, COLUMNS, rows, notes)
