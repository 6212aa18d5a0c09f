"""Row 20: dates as people write them; what the column decides is guessed and said, no more."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eventide.data import Intake, read
from eventide.data.parsing.time_strings import parse_times
from eventide.errors import BadSetting, RejectedRows

NOON = datetime(2013, 6, 13, 14, 5, tzinfo=UTC)


def dated(*times: Any, **options: Any) -> Intake:
    rows = [{"id": n, "text": f"t{n}", "time": time} for n, time in enumerate(times)]
    return read(rows, **options)


@pytest.mark.parametrize(
    "written",
    [
        "13/06/2013 14:05",
        "13.06.2013 14:05",
        "13-06-2013 14:05:00",
        "13/6/2013 2:05 PM",
        "13/06/2013, 14:05",
        "13/06/2013 15:05 CET",
        "13/06/2013 16:05 +0200",
        "06/13/2013 14:05",
        "6/13/2013 2:05:00 PM",
        "06-13-2013 09:05 EST",
        "2013/06/13 14:05",
        "2013-06-13 07:05:00 PDT",
        "2013-06-13 14:05 GMT",
        "2013-6-13 14:05",
        "Thu, 13 Jun 2013 14:05:00 GMT",
        "Thu, 13 Jun 2013 10:05:00 EDT",
        "Thu Jun 13 23:05:00 JST 2013",
        "13 June 2013 14:05",
        "June 13, 2013 2:05 PM",
        "June 13th, 2013, 2:05 p.m.",
        "13-Jun-2013 14:05",
        "1371132300000000",
        "1371132300000000000",
        "1371132300,0",
        1371132300000000,
        1371132300000000000,
        1371132300000000.0,
    ],
)
def test_one_moment_in_more_notations(written: object) -> None:
    """Row 20: day first, month first, names of months and zones, micro- and nanoseconds."""
    intake = dated(written)
    assert intake.messages["created_at"].to_list() == [NOON], intake.summary()


@pytest.mark.parametrize(
    "written",
    ["13/13/2013", "31/02/2013", "13/06/13", "13/06/2013 25:00", "13 Juni 2013", "2013-06-13 1:00 XYZ",
     "13/06/2013 13:05 PM", "32/01/2013", "2013-06-13 12:00 EST+05:00", "13/06/1913"],
)  # fmt: skip
def test_what_is_no_time_is_quarantined(written: str) -> None:
    """Row 20: nothing is bent until it fits."""
    assert dated(written).rejected["column"].to_list() == ["created_at"]


def test_one_date_decides_for_the_column_and_that_is_said() -> None:
    """Row 20: 13/06 is day first, so 03/04 is in April."""
    intake = dated("03/04/2013", "13/06/2013")
    assert intake.messages["created_at"].dt.month().to_list() == [4, 6]
    assert "the dates are read day first: 13/06/2013 has no other reading" in intake.notes
    intake = dated("03/04/2013", "06/13/2013")
    assert intake.messages["created_at"].dt.month().to_list() == [3, 6]
    assert "month first" in intake.notes[0]


def test_the_decision_holds_for_the_whole_file(tmp_path: Path) -> None:
    """Row 20: the only date that decides stands in the last row, batches later."""
    rows = [{"id": n, "text": "t" * 200, "time": "03/04/2013"} for n in range(90_000)]
    rows[-1]["time"] = "13/04/2013"
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    intake = read(path)
    assert intake.messages["created_at"].dt.month().unique().to_list() == [4]
    assert len(intake.messages) == 90_000


@pytest.mark.parametrize(
    "times", [("03/04/2013", "05/06/2013"), ("13/06/2013", "06/13/2013", "01/02/2013")]
)
def test_undecided_dates_are_quarantined_with_a_next_step(times: tuple[str, ...]) -> None:
    """Row 20, row 2: the error says what to do about the dates, not about labels."""
    intake = dated(*times)
    assert len(intake.rejected) == len(times)
    assert intake.rejected["value"].to_list() == list(times)
    with pytest.raises(
        RejectedRows, match=r"all . rows: created_at: day or month first\?"
    ) as caught:
        intake.check_rejected()
    assert "--day-first" in str(caught.value.next_step)
    assert "day_first=" in str(caught.value.next_step)


def test_the_user_decides() -> None:
    """Row 20: --day-first and --month-first."""
    for day_first, month in ((True, 4), (False, 3)):
        intake = dated("03/04/2013", "2013-01-01", day_first=day_first)
        assert intake.messages["created_at"].dt.month().to_list() == [month, 1]
    intake = dated("03/04/2013", "06/13/2013", day_first=True)
    assert intake.rejected["reason"].to_list() == [
        "not a time in a known format, 1970 to 2099; dates in numbers were read day first"
    ]


def test_a_format_of_ones_own() -> None:
    """Row 20: --time-format is the only notation then."""
    assert dated("13|06|13 14h05", time_format="%d|%m|%y %Hh%M").messages[
        "created_at"
    ].to_list() == [NOON]
    found = dated("13.06.2013 14:05:00.250", time_format="%d.%m.%Y %H:%M:%S.%f").messages[
        "created_at"
    ]
    assert found.to_list() == [NOON + timedelta(milliseconds=250)]
    assert dated(20130613, time_format="%Y%m%d").messages["created_at"].dt.day().to_list() == [13]
    assert dated("13/06/2013 +0200", time_format="%d/%m/%Y %z").rows_in == 1
    intake = dated("2013-06-13T14:05:00Z", time_format="%d/%m/%Y")
    assert "not a time in the format %d/%m/%Y" in intake.rejected["reason"][0]
    for wrong in ("dd/mm/yyyy", "%d/%m/%Y %Z", "%d/%m/%Y %H"):
        with pytest.raises(BadSetting) as caught:
            dated("13/06/2013", time_format=wrong)
        assert caught.value.next_step


def test_names_of_zones_are_said() -> None:
    """Row 20: EST is a guess that the user should see; UTC is none."""
    assert "time zones by name: EST = UTC-05:00" in dated("2013-06-13 09:05 EST").notes
    assert dated("2013-06-13 09:05 UTC").notes == ()


def test_frames_and_files_read_dates_alike(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "text": ["x", "y"], "date": ["1/2/2013", "30.1.2013"]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    for source in (frame, frame.to_pandas(), tmp_path / "a.csv", tmp_path / "a.parquet"):
        assert read(source).messages["created_at"].dt.month().to_list() == [2, 1]


def test_microseconds_do_not_collide_with_milliseconds() -> None:
    ms = [1, 4_102_444_799_000]
    for factor, below in ((1, 10**14), (1000, 10**17)):
        numbers = pl.Series([ms[1] * factor])
        assert numbers[0] < below
        assert parse_times(numbers).dt.year().to_list() == [2099]
