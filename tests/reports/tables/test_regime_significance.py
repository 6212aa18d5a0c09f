"""Differences from the reference in every regime, and who wins where."""

import re

import pytest

from eventide.errors import BadSetting
from eventide.reports.tables.regime_significance import (
    difference_table,
    regime_differences,
    significance_by_regime,
    winners,
)
from eventide.reports.tables.table import Figure
from invented_regimes import invented

SHARES = {
    "random": {"ucl-ec+cb": [0.9, 0.8] * 5, "ce": [0.7, 0.65] * 5, "bert": [0.5]},
    "chronological": {"ucl-ec+cb": [0.6] * 10, "ce": [0.8, 0.7] * 5},
    "scarce-10": {"ucl-ec+cb": [0.61], "ce": [0.615]},
    "label-noise-10": {"ce": [0.5], "bert": [0.4]},
}
OURS = "ucl-ec+cb"


@pytest.fixture
def results():
    return invented(SHARES)


def test_the_long_table_holds_what_results_say(results):
    table = significance_by_regime(results, OURS, regime_differences(results))
    rows = {(row[0], row[1]): row for row in table.rows}
    assert set(rows) == {
        ("ce", "random"), ("ce", "chronological"), ("ce", "scarce-10"), ("bert", "random"),
    }  # fmt: skip
    found = results.parts["random"].difference("ce", OURS)
    row = rows["ce", "random"]
    assert row[2:6] == tuple(
        Figure(getattr(found.bootstrap, name)) for name in ("difference", "low", "high", "p_value")
    )
    assert row[6] == Figure(found.t_test.p_value)
    assert row[7:] == (200, 10)
    assert rows["bert", "random"][6] is None  # one run in common: no p over runs


def test_the_compact_table_marks_intervals_without_zero(results):
    differences = regime_differences(results)
    table = difference_table(results, OURS, differences)
    cells = dict(zip([column.key for column in table.columns], table.rows[0], strict=True))
    assert cells["random"].startswith("-17.5 (-")
    assert cells["random"].endswith(")*")
    assert cells["chronological"].startswith("+15.0 (+")
    assert cells["scarce-10"].endswith(") ")
    assert "label-noise-10" not in cells  # the reference did not run there
    short = difference_table(results, OURS, differences, intervals=False)
    assert short.rows[0][1] == "-17.5*"


def test_who_wins_where(results):
    random, chrono, scarce, noise = winners(results)
    assert random.startswith(
        "random: ucl-ec+cb is best (ACC 85.00%), ahead of the next, ce, by 17.50 points"
    )
    assert random.endswith("excludes 0.")
    assert "chronological: ce is best (ACC 75.00%), ahead of ucl-ec+cb by 15.00 points" in chrono
    low, high = map(float, re.findall(r"[+-]\d+\.\d+", chrono))
    found = results.parts["chronological"].difference("ce", OURS).bootstrap
    assert (low, high) == pytest.approx((100 * found.low, 100 * found.high), abs=0.01)
    assert scarce.endswith("includes 0, so that it may be chance.")
    assert noise == "label-noise-10: ce is best (ACC 50.00%); ucl-ec+cb did not run here."


def test_winners_of_odd_results():
    alone = invented({"random": {"ce": [0.5]}, "scarce-3": {"ce": [None]}})
    assert winners(alone) == [
        "random: ce is best (ACC 50.00%), alone here.",
        "scarce-3: no run finished.",
    ]
    tie = winners(invented({"random": {"ce": [0.5], OURS: [0.5]}}))
    assert tie[0].startswith("random: ucl-ec+cb is best")
    assert "level with ce; the interval is" in tie[0]
    same = winners(invented({"random": {"ce": [1.0], OURS: [1.0]}}))
    assert same[0].endswith("level with ce; the interval is +0.00 to +0.00 points.")


def test_another_reference_can_be_asked_for(results):
    assert "ahead of the next, bert, by" in winners(results, "ce")[3]
    with pytest.raises(BadSetting, match="not among the compared"):
        winners(results, "nobody")
