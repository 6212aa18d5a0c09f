"""The files of a comparison over regimes."""

import json

import pytest

from eventide.errors import OutputError
from eventide.reports.tables.collection import TABLES
from eventide.reports.tables.regime_files import (
    NAMES,
    PAGE,
    RegimeReport,
    check_regime_files,
    regime_page,
    regimes_as_data,
    said_once,
    write_regime_tables,
)
from eventide.reports.tables.table_files import PAGE as PLAIN_PAGE
from invented_regimes import invented

SHARES = {
    "random": {"ucl-ec+cb": [0.9, 0.8], "ce": [0.7, 0.6]},
    "scarce-10": {"ucl-ec+cb": [0.6, 0.6], "ce": [0.7, None]},
    "unseen-event": {"ucl-ec+cb": [0.6], "ce": [0.5]},
}


@pytest.fixture
def report():
    return RegimeReport.of(invented(SHARES), notes=["left out: x"], command="eventide compare x")


def test_everything_is_written_and_may_be_replaced(report, tmp_path):
    folder = tmp_path / "new"
    assert not check_regime_files(folder)
    written = write_regime_tables(report, folder)
    assert written[0] == folder / PAGE
    assert all(path.stat().st_size for path in written)
    names = {path.name for path in folder.iterdir()}
    assert names == {PAGE, "regimes.png", "regimes.svg"} | {
        f"{name}.{ending}" for name in NAMES for ending in ("md", "tex", "csv")
    }
    assert check_regime_files(folder)  # a page of ours


def test_names_are_not_those_of_a_plain_comparison():
    assert not {*NAMES, PAGE} & {*TABLES, PLAIN_PAGE}


def test_what_is_not_ours_is_not_replaced(report, tmp_path):
    (tmp_path / "regimes.png").write_text("mine")
    with pytest.raises(OutputError, match=r"regimes\.png is there already"):
        check_regime_files(tmp_path)
    (tmp_path / "runs.jsonl.gz").write_text("")
    assert check_regime_files(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / PAGE).write_text("# My own page\n")
    with pytest.raises(OutputError, match="not of a comparison"):
        check_regime_files(tmp_path / "other")


def test_the_page_has_winners_first_and_says_how_it_was_made(report):
    page = regime_page(report)
    said = (
        "# Regimes on crisislex-lt28", "## Who wins where", "- random: ucl-ec+cb is best",
        "regimes.png", "## Conditions", "locked test messages (crisislex-1)",
        "- command: `eventide compare x`", "- code: commit abc1234", "- left out: x", "## Regimes",
        "**scarce-10**: 10 labels in the smallest event", "1,000 training", "## Tables",
        "### Accuracy (ACC) by regime", "### Accuracy against ucl-ec+cb by regime",
        "with p-values", "## Failed runs", "ce (scarce-10, seed 1): bad luck",
    )  # fmt: skip
    rest = page
    for each in said:
        _, found, rest = rest.partition(each)
        assert found == each
    assert page.count("Too few runs") == 1


def test_a_note_is_said_once(report):
    tables = report.tables()
    notes = [note for table in said_once(tables) for note in table.notes]
    assert len(notes) == len(set(notes))
    assert set(notes) == {note for table in tables for note in table.notes}


@pytest.mark.parametrize("width", [60, 80, 300])
def test_a_terminal_gets_accuracy_f1_and_differences_first(report, width):
    tables = report.shown(width)
    assert [table.name for table in tables][:3] == [
        "regimes-accuracy", "regimes-macro-f1", "regimes-differences",
    ]  # fmt: skip
    assert "regimes-significance" not in [table.name for table in tables]
    short = any("No room here for deviations" in note for note in tables[0].notes)
    assert short == (width == 60)
    assert (tables[0].rows[0][1].deviation is None) == short


def test_one_method_has_no_differences(tmp_path):
    alone = RegimeReport.of(invented({"random": {"ce": [0.5]}}))
    assert not {"regimes-differences", "regimes-significance"} & {t.name for t in alone.tables()}
    assert "alone here" in regime_page(alone)


def test_a_regime_of_another_version_can_be_shown():
    page = regime_page(RegimeReport.of(invented({"by-moonlight": {"ce": [0.5], "bcl": [0.4]}})))
    assert "**by-moonlight**: 1,000 training" in page


def test_programs_get_plain_data(report):
    data = json.loads(json.dumps(regimes_as_data(report), allow_nan=False))
    assert data["lock"] == "crisislex-1"
    assert data["reference"] == "ucl-ec+cb"
    assert list(data["regimes"]) == list(SHARES)
    scarce = data["regimes"]["scarce-10"]
    assert scarce["variants"][1]["accuracy"] == {"mean": 0.7, "deviation": None, "runs": 1}
    assert scarce["differences"][0]["excludes_zero"] is True
    assert scarce["differences"][0]["t_test"]["p_value"] is None
    assert scarce["failures"] == [{"variant": "ce", "seed": 1, "error": "bad\n  luck"}]
    assert data["mean_ranks"] == {"ucl-ec+cb": pytest.approx(4 / 3), "ce": pytest.approx(5 / 3)}
    assert data["notes"] == ["left out: x"]
