"""reports/paper_results.toml holds every cell of the paper's tables, and nothing else."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from eventide.losses.settings import ablation
from tex import ROOT, source, table

RESULTS = tomllib.loads(
    (ROOT / "src" / "eventide" / "reports" / "paper_results.toml").read_text(encoding="utf-8")
)
DATASETS = ("Events2012_100", "Events2018_100", "CrisisLexT_7")
COMPARISONS = ("table_sed", "table_ltr")


def as_read(label: str, printed: str) -> str:
    """The cell as we read it: misprints are listed in paper_results.toml, each with a reason."""
    for misprint in RESULTS["misprints"]:
        if (misprint["table"], misprint["printed"]) == (label, printed):
            return misprint["read"]
    return printed


def comparison(label: str) -> dict[str, dict[str, Any]]:
    """A comparison table of the paper in the shape of paper_results.toml."""
    found: dict[str, dict[str, Any]] = {}
    above = ""
    for first, *cells in table(source(), label)[2:]:
        method = as_read(label, first.replace("$_{SED}$", ""))
        method, above = (above + "+CB", above) if method == "+CB" else (method, method)
        pairs = [[float(part) for part in as_read(label, cell).split("±")] for cell in cells]
        found[method] = {
            dataset: {"acc": pairs[2 * index], "f1": pairs[2 * index + 1]}
            for index, dataset in enumerate(DATASETS)
        }
        assert len(cells) == 2 * len(DATASETS)
    return found


@pytest.mark.parametrize("label", COMPARISONS)
def test_comparison_tables(label):
    assert RESULTS[label] == comparison(label)


def test_every_misprint_is_still_printed():
    for misprint in RESULTS["misprints"]:
        cells = [cell for row in table(source(), misprint["table"]) for cell in row]
        assert misprint["printed"] in cells
        assert misprint["why"]


def test_both_comparisons_agree_where_they_overlap():
    for method in set(RESULTS["table_sed"]) & set(RESULTS["table_ltr"]):
        assert RESULTS["table_sed"][method] == RESULTS["table_ltr"][method]


def test_ablation_table():
    printed = []
    for row in table(source(), "table_ablation"):
        if row[-1] == "F1":
            continue
        own, psc, fixed, dynamic, euc = (cell == r"\Checkmark" for cell in row[1:6])
        assert own != psc
        margin = "uncertainty" if own else "fixed" if fixed else "error_rate" if dynamic else "none"
        printed.append(
            {
                "margin": margin,
                "calibration": "euc" if euc else "none",
                "prototypes": "centroids" if "EC" in row[0] else "learned",
                "acc": float(row[6]),
                "f1": float(row[7]),
            }
        )
    ours = []
    for row in RESULTS["table_ablation"]:
        choice = ablation(row["ablation"], centroids=row["prototypes"] == "centroids")
        named = {"margin": choice.margin, "calibration": choice.calibration}
        ours.append(named | {key: row[key] for key in ("prototypes", "acc", "f1")})
    assert ours == printed


def test_statistics_table():
    printed = {
        row[0].removeprefix("co-"): dict(zip(DATASETS, map(float, row[1:]), strict=True))
        for row in table(source(), "table_statistics")[2:]
    }
    assert RESULTS["table_statistics"] == printed


def test_time_table():
    rows = table(source(), "table_time")[1:]
    printed = {
        method: {row[0]: float(row[column]) for row in rows}
        for method, column in (("UCL", 2), ("UCL-EC", 4))
    }
    assert RESULTS["table_time"] == printed


def numbers(node: Any) -> Iterator[float]:
    """All numbers below a node."""
    if isinstance(node, dict):
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from numbers(child)
    elif isinstance(node, float):
        yield node


def test_there_are_as_many_numbers_as_cells():
    expected = {
        "table_sed": 9 * 6 * 2,
        "table_ltr": 11 * 6 * 2,
        "table_ablation": 10 * 2,
        "table_statistics": 4 * 3,
        "table_time": 2 * 3,
    }
    for label, count in expected.items():
        values = list(numbers(RESULTS[label]))
        assert len(values) == count, label
        assert all(math.isfinite(value) and value > 0 for value in values)
    assert set(RESULTS) == {*expected, "misprints"}
