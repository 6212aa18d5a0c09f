"""What it costs: seconds per epoch, as the paper's table_time, and of the whole run."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.comparison.results import Results
from eventide.reports.tables import paper
from eventide.reports.tables.comparison import NAME, RUNS, titled
from eventide.reports.tables.table import Cell, Column, Figure, Table

SECONDS_COLUMNS = (
    NAME,
    Column("epoch", "s per epoch", digits=3, best="low"),
    Column("paper_epoch", "paper's (8 GPUs)"),
    Column("epochs", "epochs", digits=1),
    Column("fit", "s to fit", digits=1, best="low"),
    Column("prepare", "s to prepare", digits=1, spare=True),
    Column("judge", "s to judge", digits=3, spare=True),
    RUNS,
)


def seconds(results: Results, names: Sequence[str]) -> Table:
    """Lay out wall-clock times; an epoch includes its validation."""
    rows: list[list[Cell]] = [
        [
            each,
            Figure.of(results.spread(each, lambda run: run.seconds.epoch)),
            paper.seconds_per_epoch(each, results.plan.dataset),
            Figure.of(results.spread(each, lambda run: float(run.epochs))),
            Figure.of(results.spread(each, lambda run: run.seconds.fit)),
            Figure.of(results.spread(each, lambda run: run.seconds.prepare)),
            Figure.of(results.spread(each, lambda run: run.seconds.judge)),
            len(results.outcomes(each)),
        ]
        for each in names
    ]
    threads = sorted({run.threads for runs in results.runs.values() for run in runs})
    shown = ", ".join(map(str, threads)) or "no"
    notes = [
        f"Wall clock on this machine, {shown} threads a run, other runs beside it; preparation "
        "(split, encoder, vectors, views) is shared by the runs of a seed"
    ]
    return Table.build("seconds", titled("Seconds", results), SECONDS_COLUMNS, rows, notes)
