"""The page of a comparison, from the committed run log."""

import json
import re

import pytest

from eventide.experiments.regime_results import results_from_log
from eventide.reports.html.compared import Compared
from eventide.reports.html.comparison_report import comparison_report
from eventide.reports.tables.regime_tables import regime_tables
from tree import ROOT

LOG = ROOT / "docs" / "results" / "regimes-crisislex-t7" / "runs.jsonl.gz"


@pytest.fixture(scope="module")
def compared():
    results = results_from_log(
        LOG, ["random", "label-noise-10"], ["ucl-ec+cb", "ce+cb", "lr-tfidf"]
    )
    events = [f"event <{k}>" for k in range(7)]
    return Compared(results, "ucl-ec+cb", regime_tables(results), events=events)


def test_the_page_has_what_the_runs_say(compared, tmp_path, open_page):
    path = comparison_report(compared).save(tmp_path / "comparison.html")
    html = path.read_text(encoding="utf-8")
    charts = json.loads(re.search(r'id="chart-data">(.*?)</script>', html, re.S)[1])
    assert set(charts) == {"accuracy", "intervals-0", "intervals-1", "recall", "seconds"}
    cells = {(cell[0], cell[1]): cell[3] for cell in charts["accuracy"]["cells"]}
    for x, part in enumerate(compared.parts.parts.values()):
        for y, name in enumerate(compared.names):
            (outcome,) = part.outcomes(name)
            assert cells[x, y] == f"{100 * outcome.test.accuracy:.1f}"
    noise = {row[0]: row for row in charts["intervals-1"]["rows"]}
    difference = compared.differences["label-noise-10"]["ce+cb"].bootstrap
    assert noise["ce+cb"][1:4] == pytest.approx(
        [100 * difference.low, 100 * difference.high, 100 * difference.difference], abs=1e-3
    )
    assert charts["recall"]["series"][0]["name"] == "ucl-ec+cb"
    assert "event &lt;" in html
    opened = open_page(path, 390)
    opened.check_quiet(path)
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_comparison_without_runs_says_so(compared):
    from dataclasses import replace

    from eventide.experiments.regime_results import RegimeResults

    empty = RegimeResults({"random": replace(compared.first, runs={})})
    html = comparison_report(Compared(empty, "ucl-ec+cb", ())).html()
    assert "No run has finished" in html
