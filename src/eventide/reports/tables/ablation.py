"""The paper's ablation table: what each part of the objective is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eventide.comparison.ablations import METHOD_OF, named
from eventide.comparison.results import Results
from eventide.losses.ablations import ABLATIONS
from eventide.reports.tables import paper
from eventide.reports.tables.comparison import (
    ACCURACY,
    MACRO_F1,
    NAME,
    OTHERS,
    PAPER_ACCURACY,
    PAPER_F1,
    RUNS,
    caveats,
    measured,
    titled,
)
from eventide.reports.tables.table import Cell, Column, Figure, Table

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
    contestant = next(each for each in results.contestants if each.name == name)
    plan = results.plan
    return contestant.settings(plan.preset, plan.changes).loss.model_dump(mode="json")


def _printed(results: Results, name: str, measure: str) -> Figure | None:
    for kind in METHOD_OF:
        for row in ABLATIONS:
            if named(row, kind).name == name:
                return paper.ablation_figure(row, kind, results.plan.dataset, measure)
    return None
