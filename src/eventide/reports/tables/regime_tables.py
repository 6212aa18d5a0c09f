"""Tables of methods by regimes, one for each measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from eventide.experiments.regime_results import RegimeResults
from eventide.experiments.run_log import Outcome
from eventide.reports.tables.comparison_tables import NAME, tested
from eventide.reports.tables.mean_ranks import mean_ranks
from eventide.reports.tables.regime_titles import (
    counted_range,
    dataset,
    shared_notes,
    short_title,
    titled_regimes,
)
from eventide.reports.tables.table import Cell, Column, Figure, Table

RANK = Column("mean_rank", "rank", best="low")
RUNS = Column("runs", "runs", spare=True)


@dataclass(frozen=True)
class RegimeMeasure:
    """A measure: the name of its table, how it is read and written, and what it means.

    ``form`` is how a column writes it; its key and title are those of a regime.
    """

    name: str
    title: str
    meaning: str
    read: Callable[[Outcome], float | None]
    form: Column
    ranked: bool = True


def _of_sets(name: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: (
        None if outcome.test.sets is None else float(getattr(outcome.test.sets, name))
    )


PER_CENT = Column("", "", scale=100, best="high", spare=True)
SHARE = Column("", "", digits=3, best="high", spare=True)
ACCURACY = RegimeMeasure(
    "regimes-accuracy",
    "Accuracy (ACC)",
    "ACC: per cent of the test messages that get their event; higher is better",
    tested("accuracy"),
    PER_CENT,
)
UNSEEN = RegimeMeasure(
    "regimes-unseen",
    "AUROC, unseen event",
    "AUROC, unseen event: how often a message of an event that was not trained on is in more doubt "
    "than one of a known event; 0.5 is chance, 1 is best",
    tested("unseen_auroc"),
    SHARE,
)
MEASURES = (
    ACCURACY,
    RegimeMeasure(
        "regimes-macro-f1",
        "Macro-F1",
        "Macro-F1: the mean of F1 over events, in per cent, so that rare events count as much as "
        "common ones; higher is better",
        tested("macro_f1"),
        PER_CENT,
    ),
    RegimeMeasure(
        "regimes-tail",
        "Recall of the tail third",
        "Tail third: the recall of the third of the events with the fewest training messages, in "
        "per cent; higher is better",
        tested("tail_recall"),
        PER_CENT,
    ),
    RegimeMeasure(
        "regimes-auroc",
        "AUROC of doubt",
        "AUROC of doubt: how often a wrong prediction is in more doubt (1 - probability) than a "
        "right one; 0.5 is chance, 1 is best",
        tested("auroc"),
        SHARE,
    ),
    UNSEEN,
    RegimeMeasure(
        "regimes-nll",
        "NLL",
        "NLL: the mean of -log(probability of the true event), averaged by class; lower is better",
        tested("nll"),
        replace(SHARE, best="low"),
    ),
    RegimeMeasure(
        "regimes-ece",
        "ECE",
        "ECE: how far the stated probability is from the share that is right; lower is better",
        tested("ece"),
        replace(SHARE, best="low"),
    ),
    RegimeMeasure(
        "regimes-aurc",
        "AURC",
        "AURC: the error rate of the messages kept, the least doubtful first, averaged over how "
        "many are kept, in per cent; lower is better",
        tested("aurc"),
        replace(PER_CENT, best="low"),
    ),
    RegimeMeasure(
        "regimes-set-coverage",
        "Coverage of prediction sets",
        "Coverage: per cent of the messages whose prediction set holds the true event; sets are "
        "made for 90 % in scarce and weak regimes, for 99 % in the others",
        _of_sets("coverage"),
        PER_CENT,
        ranked=False,
    ),
    RegimeMeasure(
        "regimes-set-class-coverage",
        "Coverage of prediction sets, mean over events",
        "Coverage of each event's messages, averaged over events, in per cent",
        _of_sets("class_coverage"),
        PER_CENT,
        ranked=False,
    ),
    RegimeMeasure(
        "regimes-set-size",
        "Size of prediction sets",
        "Size: how many events a prediction set holds on average; 1 is smallest",
        _of_sets("size"),
        Column("", "", digits=2, best="low", spare=True),
        ranked=False,
    ),
    RegimeMeasure(
        "regimes-seconds",
        "Seconds to fit",
        "Seconds to fit: wall clock on the machine of the run, other runs beside it; lower is "
        "better",
        lambda outcome: outcome.seconds.fit,
        Column("", "", digits=1, best="low", spare=True),
        ranked=False,
    ),
)


def regime_tables(results: RegimeResults) -> list[Table]:
    """Return a table of methods by regimes for every measure that some run has."""
    shared = shared_notes(results)
    found = [(each, measured_in(results, each)) for each in MEASURES]
    return [
        regime_table(results, each, figures, shared)
        for each, figures in found
        if any(figure is not None for row in figures.values() for figure in row)
    ]


def measured_in(results: RegimeResults, measure: RegimeMeasure) -> dict[str, list[Figure | None]]:
    """Summarise a measure for every method in every regime; None where it has no run."""
    return {
        each.name: [
            Figure.of(part.spread(each.name, measure.read)) for part in results.parts.values()
        ]
        for each in results.variants
    }


def regime_table(
    results: RegimeResults,
    measure: RegimeMeasure,
    figures: dict[str, list[Figure | None]],
    shared: Sequence[str] = (),
) -> Table:
    """Lay out one measure; the mean rank is of the methods that have it in every regime."""
    # A regime that cannot have the measure has no column and no say in the ranks.
    used = [
        at
        for at in range(len(results.parts))
        if any(row[at] is not None for row in figures.values())
    ]
    names = [name for at, name in enumerate(results.parts) if at in used]
    columns = [replace(measure.form, key=name, title=short_title(name)) for name in names]
    ranks = _ranks(measure, {name: [row[at] for at in used] for name, row in figures.items()})
    rows: list[list[Cell]] = [
        [
            name,
            *(row[at] for at in used),
            Figure(ranks[name]) if name in ranks else None,
            _runs(results, name),
        ]
        for name, row in figures.items()
    ]
    notes = [
        measure.meaning,
        "Mean ± deviation over seeds; the best of a column is marked; - means that a method did "
        "not run there, or that there is nothing to measure",
    ]
    if ranks:
        notes.append(
            f"Rank: the mean over these {len(names)} regimes, among the {len(ranks)} methods that "
            "have a figure in each; figures that read the same share a rank"
        )
    table = Table.build(
        measure.name,
        titled_regimes(f"{measure.title} by regime", results),
        (NAME, *columns, RANK, RUNS),
        rows,
        [*notes, *shared],
    )
    return replace(table, data=dataset(results), code=results.made_by)


def _ranks(measure: RegimeMeasure, figures: dict[str, list[Figure | None]]) -> dict[str, float]:
    """Rank figures as they are written; nothing is ranked alone or in one regime."""
    form = measure.form
    written = {
        name: [None if each is None else float(form.format_value(each.mean)) for each in row]
        for name, row in figures.items()
    }
    if not measure.ranked or any(len(row) < 2 for row in written.values()):
        return {}
    ranks = mean_ranks(written, high=form.best == "high")
    return ranks if len(ranks) > 1 else {}


def _runs(results: RegimeResults, name: str) -> str:
    """Count a method's runs in a regime; a range where regimes differ."""
    counts = [len(part.outcomes(name)) for part in results.parts.values() if part.outcomes(name)]
    return counted_range(counts, "run").partition(" run")[0] if counts else "0"
