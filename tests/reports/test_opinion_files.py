"""Row 19: opinions as files, whole and as they are meant."""

import zipfile
from datetime import UTC, datetime

import polars as pl
import pytest

from eventide.errors import OutputError
from eventide.model.opinion_frame import to_review, with_messages
from eventide.reports import opinion_files
from eventide.reports.opinion_files import EXCEL_CELL, EXCEL_CUT, printable, write_opinions

OPINIONS = pl.DataFrame(
    {
        "id": ["007", "b"],
        "created_at": [datetime(2024, 3, 1, 12, 30, tzinfo=UTC), None],
        "text": ["water", "smoke"],
        "event": ["flood", "fire"],
        "uncertainty": [0.123456789, 0.5],
    }
)


def test_figures_are_rounded_and_times_written_out_for_people():
    shown = printable(OPINIONS)
    assert shown["uncertainty"].to_list() == [0.1235, 0.5]
    assert shown["created_at"].to_list() == ["2024-03-01T12:30:00Z", None]


def test_parquet_keeps_everything(tmp_path):
    write_opinions(OPINIONS, tmp_path / "o.parquet")
    assert pl.read_parquet(tmp_path / "o.parquet").equals(OPINIONS)


def test_ids_stay_text_in_excel(tmp_path):
    write_opinions(OPINIONS, tmp_path / "o.XLSX")
    assert b"<t>007</t>" in zipfile.ZipFile(tmp_path / "o.XLSX").read("xl/sharedStrings.xml")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a" * (EXCEL_CELL + 1), True),
        ("🔥" * (EXCEL_CUT + 1), True),
        ("水" * EXCEL_CUT, False),
        ("a" * EXCEL_CELL, False),
    ],
)
def test_a_text_that_no_cell_holds_is_cut_and_said(tmp_path, text, cut):
    """The library would leave the cell empty without a word."""
    told = write_opinions(OPINIONS.with_columns(text=pl.lit(text)), tmp_path / "o.xlsx")
    assert bool(told) == cut
    strings = zipfile.ZipFile(tmp_path / "o.xlsx").read("xl/sharedStrings.xml").decode()
    assert (text in strings) == (not cut)
    assert text[:EXCEL_CUT] in strings


def test_more_messages_than_a_sheet_holds_are_a_typed_error(tmp_path, monkeypatch):
    monkeypatch.setattr(opinion_files, "EXCEL_ROWS", 1)
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        write_opinions(OPINIONS, tmp_path / "o.xlsx")
    assert not list(tmp_path.iterdir())


def test_equal_doubts_keep_their_order():
    opinions = pl.DataFrame({"id": list("abcd"), "doubt": [0.5, 0.9, 0.5, 0.5]})
    assert to_review(opinions, most_doubtful=3)["id"].to_list() == ["b", "a", "c"]
    both = to_review(opinions, most_doubtful=9, threshold=0.6)
    assert both["id"].to_list() == ["b"]
    assert to_review(opinions) is opinions


def test_opinions_and_messages_must_be_of_the_same_ids():
    with pytest.raises(ValueError, match="same order"):
        with_messages(OPINIONS.select("id", "event"), OPINIONS.reverse())
