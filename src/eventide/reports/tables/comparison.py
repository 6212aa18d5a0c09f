"""Methods side by side: the shape that every table of methods has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eventide.comparison.results import Results, pooled_auroc
from eventide.comparison.rows import Outcome
from eventide.methods import DEFAULT_METHOD
from eventide.reports.printed import DATASETS
from eventide.reports.tables import paper
from eventide.reports.tables.table import Cell, Column, Figure, Table
from eventide.scoring.significance import ENOUGH_RUNS

NAME = Column("method", "method", words=True)
RUNS = Column("runs", "runs")
PAPERS = {"ucl", "ucl-ec"}
NOTE = Column("note", "note", words=True)
MEASURES = ("accuracy", "macro_f1", "nmi", "ami", "ari", "auroc")
ACCURACY = Column("accuracy", "ACC", scale=100, best="high")
MACRO_F1 = Column("macro_f1", "F1", scale=100, best="high")
PAPER_ACCURACY = Column("paper_accuracy", "paper's ACC", scale=100)
PAPER_F1 = Column("paper_f1", "paper's F1", scale=100)
OTHERS = (
    Column("nmi", "NMI", digits=3, best="high", spare=True),
    Column("ami", "AMI", digits=3, best="high", spare=True),
    Column("ari", "ARI", digits=3, best="high", spare=True),
    Column("auroc", "AUROC", digits=3, best="high", spare=True),
    Column("pooled_auroc", "pooled AUROC", digits=3, best="high", spare=True),
)
COLUMNS = (NAME, ACCURACY, PAPER_ACCURACY, MACRO_F1, PAPER_F1, *OTHERS, RUNS, NOTE)


def comparison(
    results: Results, names: Sequence[str], name: str = "comparison", title: str = "Comparison"
) -> Table:
    """Lay out contestants with their figures, and the paper's beside them where it has any."""
    dataset = results.plan.dataset
    rows: list[list[Cell]] = []
    for each in names:
        accuracy, f1, *others = measured(results, each)
        paper_accuracy, paper_f1 = (paper.figure(each, dataset, what) for what in ("acc", "f1"))
        ours = (accuracy, paper_accuracy, f1, paper_f1, *others)
        rows.append([each, *ours, len(results.outcomes(each)), results.note(each)])
    return Table.build(name, titled(title, results), COLUMNS, rows, caveats(results, names))


def measured(results: Results, contestant: str) -> list[Figure | None]:
    """Summarise every measure on test messages over the finished runs."""
    pooled = pooled_auroc(results.outcomes(contestant))
    return [
        *(Figure.of(results.spread(contestant, tested(measure))) for measure in MEASURES),
        None if pooled is None else Figure(pooled),
    ]


def tested(measure: str) -> Callable[[Outcome], float | None]:
    """Return what reads one measure on test messages from a run's outcome."""

    def read(outcome: Outcome) -> float | None:
        value: float | None = getattr(outcome.test, measure)
        return value

    return read


def titled(title: str, results: Results) -> str:
    """Say on what the figures were measured, so that a table can stand alone."""
    plan = results.plan
    return f"{title}: {plan.dataset}, {plan.split} split, {plan.protocol}, {plan.encoder}"


def caveats(results: Results, names: Sequence[str]) -> list[str]:
    """Say what a reader must know before believing a table."""
    notes = [
        "Mean ± deviation over runs; AUROC is of uncertainty against error, pooled: over the test "
        "messages of all runs together; the best of a column is marked"
    ]
    fewest = min((len(results.outcomes(each)) for each in names), default=0)
    if fewest < ENOUGH_RUNS:
        notes.append(f"Too few runs: {fewest} where the paper has {ENOUGH_RUNS}")
    plan = results.plan
    if PAPERS & set(names) and DEFAULT_METHOD not in names:
        notes.append(
            "Rows ucl and ucl-ec are the paper's, without class weights; what eventide train "
            f"learns by default is {DEFAULT_METHOD}"
        )
    if plan.dataset in DATASETS and (plan.split, plan.protocol) != paper.WAY:
        notes.append(f"The paper's figures are of another task: {' split, '.join(paper.WAY)}")
    return notes
