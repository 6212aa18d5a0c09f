"""Rows 4, 12 and 16: labels that look missing, ids that are no times, columns that are not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from eventide.data import read
from eventide.data.columns import Columns
from eventide.data.plain_messages import plain_messages
from eventide.errors import MissingColumn

TWEET = "407124578246270976"
GOOD = {"id": "1", "text": "flood", "created_at": "2013-12-01T12:51:01Z"}


def as_files(folder: Path, rows: list[dict[str, Any]]) -> list[Any]:
    """The same rows as a list, a frame and three kinds of file."""
    frame = pl.DataFrame(rows)
    frame.write_csv(folder / "a.csv")
    frame.write_parquet(folder / "a.parquet")
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return [
        rows,
        frame,
        frame.to_pandas(),
        *(folder / f"a.{kind}" for kind in ("csv", "parquet", "jsonl")),
    ]


@pytest.mark.parametrize("name", ["tweet_id", "Tweet ID", "id"])
def test_a_tweet_id_stands_in_only_where_it_is_one(tmp_path: Path, name: str) -> None:
    """Row 12: by the column's name, and then it is said."""
    for source in as_files(
        tmp_path, [{name: TWEET, "text": "a"}, {name: TWEET[:-1] + "8", "text": "b"}]
    ):
        if (
            name == "Tweet ID"
            and isinstance(source, (list, Path))
            and not str(source).endswith(("csv", "parquet"))
        ):
            continue  # keys of objects are taken as they are
        intake = read(source)
        if name == "id":
            assert intake.messages["created_at"].null_count() == 2
            assert any(note.startswith("no times") for note in intake.notes)
        else:
            assert intake.messages["created_at"].dt.year().to_list() == [2013, 2013]
            assert "times of 2 messages were taken from their tweet ids" in intake.notes


@pytest.mark.parametrize("foreign", ["110123456789012345", "10158972345678901", TWEET])
def test_ids_of_other_platforms_are_no_times(foreign: str) -> None:
    """Row 12: Facebook's and Mastodon's ids were read as times of 2010 and 2011."""
    intake = read([GOOD, {"id": foreign, "text": "a"}, {"id": "2", "text": "b", "created_at": ""}])
    assert intake.messages["id"].to_list() == ["1"]
    assert intake.rejected["reason"].to_list() == ["the time is missing"] * 2
    status = {"id": foreign, "content": "<p>a</p>", "account": {"acct": "ann"}}
    assert read([GOOD, status]).rejected["reason"].to_list() == ["the time is missing"]


def test_twitters_own_exports_may_lack_the_time() -> None:
    """Row 12: the platform is known, so the id tells."""
    page = {"data": [{"id": TWEET, "text": "a"}], "meta": {"result_count": 1}}
    intake = read([page, GOOD])
    assert intake.messages["created_at"].dt.year().to_list() == [2013, 2013]
    assert "times of 1 messages were taken from their tweet ids" in intake.notes
    unread = read([{"tweet_id": TWEET, "text": "a", "created_at": "soon"}])
    assert unread.rejected["column"].to_list() == ["created_at"]


@pytest.mark.parametrize("label", ["NA", "N/A", "nan", "NaN", "null", "None", "<NA>", "#N/A"])
def test_labels_that_look_missing_are_said_not_changed(tmp_path: Path, label: str) -> None:
    """Row 4: in files they stay events, with a note."""
    rows = [{**GOOD, "id": str(n), "event": label if n < 2 else "fire"} for n in range(4)]
    for source in as_files(tmp_path, rows):
        intake = read(source)
        assert intake.messages["event"].to_list() == [label, label, "fire", "fire"]
        (note,) = intake.notes
        assert f"2 messages have the event {label!r}" in note
        assert "leave the cell empty" in note


@pytest.mark.parametrize(
    "nothing", [None, "", " ", float("nan"), np.nan, pd.NA, pd.NaT, np.float64("nan")]
)
def test_a_missing_label_is_unlabelled(nothing: Any) -> None:
    """Row 4: however a frame or a list says that there is none."""
    rows = [{**GOOD, "event": nothing}, {**GOOD, "id": "2", "event": "fire"}]
    for source in (rows, pd.DataFrame(rows)):
        intake = read(source)
        assert intake.messages["event"].to_list() == [None, "fire"]
        assert intake.notes == ()


def test_spellings_of_one_event_are_said(tmp_path: Path) -> None:
    """Row 4: FIRE and fire are two events, and that is said; blanks around are taken off, said too."""
    rows = [
        {**GOOD, "id": str(n), "event": event} for n, event in enumerate(["FIRE", "fire", "flood "])
    ]
    for source in as_files(tmp_path, rows):
        intake = read(source)
        assert intake.messages["event"].to_list() == ["FIRE", "fire", "flood"]
        assert any("'FIRE' (1), 'fire' (1) are kept apart" in note for note in intake.notes)
        assert any("blanks around the events of 1 rows" in note for note in intake.notes)


def test_a_mapping_to_nothing_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    """Row 16: --column user=handel."""
    for source in as_files(tmp_path, [{**GOOD, "handle": "ann"}]):
        with pytest.raises(
            MissingColumn, match="'user' \\(mapped to 'handel'\\) is missing"
        ) as caught:
            read(source, columns={"user": "handel"})
        assert "--column user=handle" in str(caught.value.next_step)
        assert "{'user': 'handle'}" in str(caught.value.next_step)
        assert read(source, columns={"user": "handle"}).messages["user"].to_list() == ["ann"]


def test_new_messages_need_not_have_what_a_model_remembers() -> None:
    """Row 16: a model trained with event=topic meets unlabelled messages and the usual names."""
    mapping = {"event": "topic", "user": "handle", "text": "body"}
    for records in ([GOOD | {"user": "ann"}], [GOOD | {"user": "ann", "created_at": "2013"}]):
        intake = read([*records], remembered=mapping)
        assert intake.messages.select("event", "user", "text").rows() == [
            (None, "ann", "flood")
        ] * len(intake.messages)
    both = {
        "id": 1,
        "body": "this",
        "text": "not this",
        "topic": "fire",
        "created_at": GOOD["created_at"],
    }
    assert read([both], remembered=mapping).messages.select("event", "text").row(0) == (
        "fire",
        "this",
    )


def test_a_mapped_column_may_turn_up_late(tmp_path: Path) -> None:
    rows = [{**GOOD, "id": str(n)} for n in range(200)]
    rows[150]["handle"] = "ann"
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read(tmp_path / "a.jsonl", columns={"user": "handle"}).messages["user"].count() == 1


def test_a_view_of_a_missing_column_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    """Row 16: --view place=places."""
    for source in as_files(tmp_path, [{**GOOD, "place": "calgary"}]):
        with pytest.raises(MissingColumn, match="places") as caught:
            read(source, lists=["places"])
        assert "'place' instead of 'places'" in str(caught.value.next_step)
        intake = read(source, lists=["places"], need_lists=False)
        assert intake.messages["places"].to_list() == [None]
        assert "no message has the column places, which a view reads" in intake.notes
    taken_from_text = ["hashtags", "mentions", "urls", "entities", "user"]
    assert read([GOOD], lists=taken_from_text).notes == ()


def test_all_missing_columns_are_named_at_once(tmp_path: Path) -> None:
    """Row 21: one error, a guess for each."""
    for source in as_files(tmp_path, [{"number": "1", "body": "a", "handle": "b", "when": "2013"}]):
        with pytest.raises(
            MissingColumn, match=r"'text', 'user' .*'created_at' .*are missing"
        ) as caught:
            read(source, columns={"user": "handel", "created_at": "wenn"})
        assert "--column text=body --column user=handle --column created_at=when" in str(
            caught.value
        )


def test_the_short_way_leaves_all_this_to_the_careful_one() -> None:
    """Rows 4, 16, 25: `plain_messages` obeys the same rules."""
    assert plain_messages([GOOD], Columns()) is not None
    for record, columns in (
        ({**GOOD, "event": "NA"}, Columns()),
        ({"text": "a", "created_at": GOOD["created_at"]}, Columns()),
        ({"id": "1", "text": "a"}, Columns()),
        ({**GOOD, "text": "a" * 10_001}, Columns()),
        ({**GOOD, "user": "a"}, Columns({"user": "handel"})),
        (GOOD, Columns({}, ("places",))),
    ):
        assert plain_messages([record], columns) is None
    both = [{**GOOD, "event": "fire"}, {**GOOD, "id": "2", "event": "Fire"}]
    assert plain_messages(both, Columns()) is None


def test_rows_that_cannot_be_taken_apart_are_the_cause_not_the_columns(tmp_path: Path) -> None:
    """Row 2, row 16: with a mapping, too."""
    (tmp_path / "a.csv").write_text("id,body\n1,a,b\n2,c,d\n")
    intake = read(tmp_path / "a.csv", columns={"text": "body"})
    assert intake.reasons()["reason"].to_list() == ["3 fields where the header has 2"]
    assert read([1, 2], columns={"text": "body"}).rows_in == 2


def test_marks_of_ours_are_not_shown_as_columns() -> None:
    with pytest.raises(MissingColumn) as caught:
        read([{"data": [{"id": TWEET, "text": "a"}]}], columns={"user": "handle"})
    assert "__" not in str(caught.value)
