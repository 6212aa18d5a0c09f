"""Row 2: when rows are refused, the error names the real cause and what helps against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eventide.data import Intake, read
from eventide.errors import RejectedRows

GOOD = {"id": "1", "text": "flood", "created_at": "2013-12-01T12:51:01Z"}


def rows(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [{**GOOD, "id": f"m{n}", **changes} for n in range(count)]


@pytest.mark.parametrize(
    ("source", "cause", "step"),
    [
        (rows(1126, created_at="03/06/2013"), "all 1,126 rows: created_at: day or month first", "--day-first"),
        (rows(3, created_at="13.VI.2013"), "all 3 rows: created_at: not a time in a known format", "--time-format"),
        (rows(3, created_at="9999-01-01"), "e.g. '9999-01-01'", "--time-format"),
        (rows(3, text=" "), "all 3 rows: text: the text is empty", "--column text=NAME"),
        (rows(3, id=None), "all 3 rows: id: the id is missing", "--column id=NAME"),
        (rows(4, id="x"), "3 rows: id: the id is taken", "--column id=NAME"),
        (rows(3, vector=[float("nan")]), "all 3 rows: vector: not a list of finite numbers", "correct"),
        (rows(3, split="holdout"), "all 3 rows: split: not a split", "train, val, test"),
    ],
)  # fmt: skip
def test_the_error_names_the_cause(source: list[dict[str, Any]], cause: str, step: str) -> None:
    """Row 2: dates, vectors, texts, ids; never 'label messages of more events'."""
    with pytest.raises(RejectedRows) as caught:
        read(source).check_rejected()
    assert cause in caught.value.what
    assert step in str(caught.value.next_step)
    assert "label" not in str(caught.value)


def test_counts_by_cause_come_first() -> None:
    """Row 2: the most frequent cause is on top."""
    source = [
        *rows(2),
        *({**GOOD, "id": f"a{n}", "text": ""} for n in range(3)),
        {**GOOD, "id": "b", "split": "?"},
    ]
    with pytest.raises(RejectedRows) as caught:
        read(source).check_rejected()
    first, second, third = caught.value.what.splitlines()
    assert first == "4 of 6 rows cannot be used:"
    assert second == "  3 rows: text: the text is empty (first in row 3)"
    assert third.startswith("  1 row: split: not a split")
    assert "--allow-rejected" in str(caught.value.next_step)


def test_half_is_bearable_more_is_not_and_allow_needs_a_row() -> None:
    """Row 2: more than half is an error unless it is allowed."""
    half: Intake = read(
        [*rows(2), {**GOOD, "id": "x", "text": ""}, {**GOOD, "id": "y", "text": ""}]
    )
    half.check_rejected()
    most = read([*rows(1), {**GOOD, "id": "x", "text": ""}, {**GOOD, "id": "y", "text": ""}])
    with pytest.raises(RejectedRows):
        most.check_rejected()
    most.check_rejected(allow=True)
    with pytest.raises(RejectedRows):
        most.check_rejected(strict=True, allow=True)
    with pytest.raises(RejectedRows, match="none of the 3 rows can be used"):
        read(rows(3, text="")).check_rejected(allow=True)
    read(rows(1)).check_rejected(strict=True)


def test_strict_reading_and_the_strict_check_are_one() -> None:
    """Row 2: one code path, one message."""
    source = [*rows(2), {**GOOD, "id": "x", "text": ""}]
    with pytest.raises(RejectedRows) as reading:
        read(source, strict=True)
    with pytest.raises(RejectedRows) as checking:
        read(source).check_rejected(strict=True)
    assert str(reading.value) == str(checking.value)


def test_values_in_errors_cannot_steer_a_terminal(tmp_path: Path) -> None:
    """Row 14: what is quoted from the data is escaped."""
    path = tmp_path / "a\x1b[31m.csv"
    path.write_text("id,text,created_at\n1,a,\x1b[2Jsoon\n")
    with pytest.raises(RejectedRows) as caught:
        read(path, strict=True)
    assert "\x1b" not in str(caught.value)
    assert "\x1b" not in read(path).summary()
