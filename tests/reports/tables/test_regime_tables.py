"""Tables of methods by regimes, from invented runs."""

import csv
import io

import pytest

from eventide.reports.tables.regime_tables import regime_tables
from eventide.reports.tables.table import Figure
from eventide.reports.tables.table_formats import comma_separated, latex, left_out, markdown
from invented_regimes import invented

SHARES = {
    "random": {"ucl-ec+cb": [0.9, 0.8], "ce": [0.7, 0.6], "bert": [0.95, 0.95]},
    "chronological": {"ucl-ec+cb": [0.6, 0.6], "ce": [0.7, 0.7]},
    "weak-vectors": {"ucl-ec+cb": [0.5, 0.5], "ce": [0.4, None]},
}


@pytest.fixture
def tables():
    results = invented(SHARES, notes={"ce": "plain and old."})
    return {table.name: table for table in regime_tables(results)}


def test_a_cell_is_mean_and_deviation_over_seeds_and_the_best_is_marked(tables):
    table = tables["regimes-accuracy"]
    assert [column.title for column in table.columns] == [
        "method", "random", "chrono", "weak", "rank", "runs",
    ]  # fmt: skip
    rows = {row[0]: row for row in table.rows}
    assert rows["ucl-ec+cb"][1] == Figure(pytest.approx(0.85), pytest.approx(0.0707, abs=1e-4))
    assert rows["bert"][1].best
    assert rows["ce"][2].best
    assert rows["bert"][2:5] == (None, None, None)
    assert table.columns[2].text(rows["bert"][2]) == "-"
    assert rows["ce"][-1] == "1 to 2"


def test_ranks_are_of_methods_that_ran_everywhere(tables):
    table = tables["regimes-accuracy"]
    ranks = {row[0]: row[4] for row in table.rows}
    # ucl-ec+cb is first of two, second, first; bert, better than both, takes no rank from them.
    assert ranks["ucl-ec+cb"] == Figure(pytest.approx(4 / 3), best=True)
    assert ranks["ce"] == Figure(pytest.approx(5 / 3))
    assert any("these 3 regimes, among the 2 methods" in note for note in table.notes)


@pytest.mark.parametrize(
    ("name", "best"), [("regimes-nll", "low"), ("regimes-ece", "low"), ("regimes-tail", "high")]
)
def test_low_is_best_where_it_is(tables, name, best):
    table = tables[name]
    values = {row[0]: row[1] for row in table.rows}
    pick = min if best == "low" else max
    assert values[pick(values, key=lambda each: values[each].mean)].best


def test_seconds_have_no_rank_and_unseen_events_no_table_without_them(tables):
    assert "rank" not in [column.title for column in tables["regimes-seconds"].columns]
    assert "regimes-unseen" not in tables
    assert len(tables) == 11


def test_the_auroc_of_unseen_events_stands_alone():
    shares = SHARES | {"unseen-event": {"ucl-ec+cb": [0.9], "ce": [0.8]}}
    tables = {table.name: table for table in regime_tables(invented(shares))}
    table = tables["regimes-unseen"]
    assert [column.title for column in table.columns] == ["method", "unseen", "runs"]
    assert table.title.startswith("AUROC, unseen event by regime: crisislex-lt28, locked test")
    assert any("each event is left out in turn" in note for note in table.notes)
    assert "2 seeds" in table.title


def test_titles_and_notes_say_what_a_reader_must_know(tables):
    table = tables["regimes-macro-f1"]
    assert table.title == (
        "Macro-F1 by regime: crisislex-lt28, locked test messages (crisislex-1), 2 seeds"
    )
    told = "\n".join(table.remarks)
    for said in (
        "higher is better", "chrono is chronological", "wordllama, in weak tfidf-svd:16",
        "Too few runs: 1 where", "ce: plain and old\n", "Code: commit abc1234",
    ):  # fmt: skip
        assert said in told
    (tuned, *_) = regime_tables(invented(SHARES, tuning=True))
    assert "tuning: locked messages left out" in tuned.title


def test_programs_find_a_regime_by_its_whole_name(tables):
    rows = list(csv.DictReader(io.StringIO(comma_separated(tables["regimes-accuracy"]))))
    assert float(rows[1]["chronological"]) == 0.7
    assert rows[0]["random_deviation"] != ""
    assert rows[0]["code"] == "commit abc1234"


def test_a_narrow_terminal_keeps_method_and_rank(tables):
    assert "rank" not in left_out(tables["regimes-accuracy"], 40)
    assert "weak" in left_out(tables["regimes-accuracy"], 40)


def test_hostile_names_stay_in_their_cells():
    hostile = "a|b_c & 100 % $x$ \\d*\n<i>"
    shares = {"random": {hostile: [0.5], "ce": [0.6]}, "re|gi_me&": {hostile: [0.5], "ce": [0.4]}}
    for table in regime_tables(invented(shares, dataset="d_1 & {x}")):
        drawn = latex(table)
        assert drawn.count("{") - drawn.count(r"\{") == drawn.count("}") - drawn.count(r"\}")
        assert r"a|b\_c \& 100 \% \$x\$ \textbackslash{}d*" in drawn
        assert r"re|gi\_me\&" in drawn
        lines = [line for line in markdown(table).splitlines() if line.startswith("|")]
        assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1
        assert "<i>" not in markdown(table)
