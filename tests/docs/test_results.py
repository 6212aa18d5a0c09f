"""Committed tables are those of the committed run logs, and of nothing else."""

import csv
import io

import pytest

from eventide.experiments.regime_results import results_from_log
from eventide.methods import METHODS
from eventide.reports.tables.regime_tables import regime_tables
from eventide.reports.tables.table_formats import comma_separated
from tree import ROOT

FOLDERS = sorted((ROOT / "docs" / "results").glob("regimes-*"))


def test_there_is_a_folder():
    assert FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_tables_are_made_of_the_log_beside_them(folder):
    results = results_from_log(folder / "runs.jsonl.gz")
    assert not results.tuning
    assert results.lock == "crisislex-1"
    for table in regime_tables(results):
        stored = (folder / f"{table.name}.csv").read_text(encoding="utf-8")
        assert list(csv.reader(io.StringIO(stored))) == list(
            csv.reader(io.StringIO(comma_separated(table)))
        )
    page = (folder / "regimes.md").read_text(encoding="utf-8")
    assert "locked" in page
    assert all(each.method in METHODS for each in results.variants)
