"""Tables of variants side by side: the paper's, ablations, controls, seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eventide.experiments.results import Results, pooled_auroc
from eventide.experiments.run_log import Outcome
from eventide.experiments.variants import METHOD_OF, WHOLE, named
from eventide.losses.settings import ABLATIONS
from eventide.methods import DEFAULT_METHOD
from eventide.reports import printed_results as paper
from eventide.reports.printed_results import DATASETS
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
    """Lay out variants with their figures, and the paper's beside them where it has any."""
    dataset = results.plan.dataset
    rows: list[list[Cell]] = []
    for each in names:
        accuracy, f1, *others = measured(results, each)
        paper_accuracy, paper_f1 = (paper.figure(each, dataset, what) for what in ("acc", "f1"))
        ours = (accuracy, paper_accuracy, f1, paper_f1, *others)
        rows.append([each, *ours, len(results.outcomes(each)), results.note(each)])
    return Table.build(name, titled(title, results), COLUMNS, rows, caveats(results, names))


def measured(results: Results, variant: str) -> list[Figure | None]:
    """Summarise every measure on test messages over the finished runs."""
    pooled = pooled_auroc(results.outcomes(variant))
    return [
        *(Figure.of(results.spread(variant, tested(measure))) for measure in MEASURES),
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
        "Mean ± deviation over runs; AUROC is of doubt (1 - probability of the assigned event) "
        "against error, pooled: over the test messages of all runs together; the best of a column "
        "is marked"
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


def event_detection(results: Results, names: Sequence[str]) -> Table:
    """Compare with methods of social event detection."""
    return comparison(results, names, "event-detection", "Comparison with event-detection methods")


def long_tail(results: Results, names: Sequence[str]) -> Table:
    """Compare with methods of long-tail recognition."""
    return comparison(results, names, "long-tail", "Comparison with long-tail methods")


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


SECONDS_COLUMNS = (
    NAME,
    Column("epoch", "s per epoch", digits=3, best="low"),
    Column("paper_epoch", "paper's (8 GPUs)"),
    Column("epochs", "epochs", digits=1),
    Column("fit", "s to fit", digits=1, best="low"),
    Column("prepare", "s to prepare", digits=1, spare=True),
    Column("predict", "s to predict", digits=3, spare=True),
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
            Figure.of(results.spread(each, lambda run: run.seconds.predict)),
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


PARTS = tuple(
    Column(key, title, words=True)
    for key, title in (
        ("margin", "margin"),
        ("prototypes", "prototypes"),
        ("euc", "EUC"),
        ("class_balanced", "CB"),
    )
)
ABLATION_COLUMNS = (NAME, *PARTS, ACCURACY, PAPER_ACCURACY, MACRO_F1, PAPER_F1, *OTHERS, RUNS)


def ablation(results: Results, names: Sequence[str]) -> Table:
    """Lay out objectives by their parts, with the paper's figures beside the rows it prints."""
    rows: list[list[Cell]] = []
    for each in names:
        accuracy, f1, *others = measured(results, each)
        paper_accuracy, paper_f1 = (_printed(results, each, what) for what in ("acc", "f1"))
        ours = (accuracy, paper_accuracy, f1, paper_f1, *others)
        rows.append([each, *parts(_loss(results, each)), *ours, len(results.outcomes(each))])
    title = titled("Ablation", results)
    return Table.build("ablation", title, ABLATION_COLUMNS, rows, caveats(results, names))


def parts(loss: Mapping[str, Any]) -> list[str]:
    """Name the parts of an objective from its settings.

    >>> parts({"margin": "error_rate", "prototypes": "learned", "calibration": "euc",
    ...        "class_balanced": False})
    ['class error', 'learned', 'yes', 'no']
    """
    margins = {
        "error_rate": "class error",
        "uncertainty": "class uncertainty",
        "frequency": "class frequency",
    }
    return [
        margins.get(loss["margin"], loss["margin"]),
        loss["prototypes"],
        "yes" if loss["calibration"] == "euc" else "no",
        "yes" if loss["class_balanced"] else "no",
    ]


def _loss(results: Results, name: str) -> Mapping[str, Any]:
    variant = next(each for each in results.variants if each.name == name)
    plan = results.plan
    return variant.settings(plan.preset, plan.changes).loss.model_dump(mode="json")


def _printed(results: Results, name: str, measure: str) -> Figure | None:
    for kind in METHOD_OF:
        for row in ABLATIONS:
            if named(row, kind).name == name:
                return paper.ablation_figure(row, kind, results.plan.dataset, measure)
    return None
