"""A bar for people who wait, lines now and then where nobody draws, silence for short work."""

from __future__ import annotations

import io
import logging
import sys
import threading

import pytest
from rich.console import Console

from eventide import progress
from eventide.cli.watching import bar, watching
from eventide.progress import duration, report_epochs, step, track
from processes import until


@pytest.fixture
def impatient(monkeypatch, caplog):
    """Lines after a few milliseconds, as if the work took long."""
    monkeypatch.setattr(progress, "FIRST", 0.02)
    monkeypatch.setattr(progress, "EVERY", 0.02)
    caplog.set_level(logging.INFO, "eventide")
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize(("total", "drawn"), [(1, False), (2, True)])
def test_a_single_item_gets_no_bar_even_on_a_terminal(monkeypatch, total, drawn):
    asked = []
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        "rich.progress.track", lambda items, *_, **__: asked.append(total) or iter(items)
    )
    assert list(track(range(total), "counting", total=total)) == list(range(total))
    assert bool(asked) == drawn


def test_work_without_a_terminal_says_how_far_it_is(impatient):
    """Row 22: a line every few seconds when the output is no terminal."""
    for item in track(range(4), "encoding", total=4):
        if item == 2:
            until(lambda: any(line.startswith("encoding: 2 of 4, about ") for line in impatient()))


def test_a_step_that_cannot_be_counted_names_itself(impatient):
    """Row 22: long steps name themselves."""
    with step("reading messages.csv"):
        until(impatient)
    assert impatient()[0] == "reading messages.csv: 1 s so far"


def test_short_work_is_silent_and_leaves_no_thread(caplog):
    """Row 22: the first line comes after three seconds."""
    caplog.set_level(logging.INFO, "eventide")
    with step("reading"), report_epochs(3) as watch:
        watch({"epoch": 1, "seconds": 0.1})
    assert list(track(range(3), "counting", total=3)) == [0, 1, 2]
    assert not caplog.records
    assert not [each for each in threading.enumerate() if "heartbeat" in each.name]


def test_a_program_that_did_not_ask_for_lines_starts_no_thread(monkeypatch):
    started = []
    monkeypatch.setattr(progress, "meanwhile", lambda *given: started.append(given))
    logging.getLogger("eventide").setLevel(logging.WARNING)
    try:
        with step("reading"):
            pass
    finally:
        logging.getLogger("eventide").setLevel(logging.NOTSET)
    assert not started


def test_training_without_a_terminal_says_epoch_accuracy_and_time_left(impatient):
    """Row 22: the same lines serve the command line and ``fit(verbose=)``."""
    with watching(100) as watch:
        until(lambda: "training: epoch 1 of 100 is not finished yet" in impatient())
        watch({"epoch": 12, "validation_accuracy": 0.91, "seconds": 0.5})
        line = "training: epoch 12 of 100, ACC 91.0 %, about 44 s left"
        until(lambda: line in impatient())


def test_lines_can_go_elsewhere(monkeypatch):
    monkeypatch.setattr(progress, "FIRST", 0.01)
    said = []
    with report_epochs(2, say=said.append):
        until(lambda: said)
    assert said[0].startswith("training: epoch 1 of 2")


@pytest.mark.parametrize("missing", [None, float("nan"), ...])
def test_without_validation_there_is_no_accuracy_to_show(missing):
    row = {"epoch": 2, "seconds": 1.0, "uncertainty": 0.5, "total": 1.0}
    if missing is not ...:
        row |= {"validation_accuracy": missing, "validation_f1": missing}
    course = progress.EpochProgress(4)
    course.watch(row)
    assert course.line() == "training: epoch 2 of 4, about 2 s left"
    assert "ACC" not in drawn_at(100, row)


def test_a_resumed_run_is_judged_by_its_own_epochs():
    course = progress.EpochProgress(100)
    course.watch({"epoch": 91, "seconds": 2.0})
    assert course.left() == pytest.approx(18.0)
    course.watch({"epoch": 101, "seconds": 2.0})  # a method with more phases than one
    assert course.line() == "training: epoch 101 of 101, about 1 s left"


ROW = {
    "epoch": 12, "error": 0.5, "calibration": 0.1, "contrastive": 2.3, "agreement": 0.02,
    "total": 3.1, "validation_accuracy": 0.91, "validation_f1": 0.88, "uncertainty": 0.1,
    "seconds": 0.35,
}  # fmt: skip


def drawn_at(width: int, row: dict[str, float]) -> str:
    stream = io.StringIO()
    console = Console(width=width, file=stream, force_terminal=True, color_system=None)
    with bar(100, console) as watch:
        watch(row)
        until(lambda: f"{row['epoch']}/" in stream.getvalue())
    lines = stream.getvalue().replace("\r", "\n").replace("\x1b[2K", "").split("\n")
    return next(line for line in reversed(lines) if "/" in line)


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_the_training_bar_shows_progress_and_time_left_at_any_width(width):
    """Row 18: the bar shows progress and time left at 80 columns, and at 40."""
    line = drawn_at(width, ROW)
    assert "12/100 31 s left" in line
    assert "━" in line
    assert len(line) <= width
    assert ("ACC 91.0 %  F1 88.0 %" in line) == (width >= 80)
    assert ("agreement 0.020" in line) == (width >= 200)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "1 s"), (99.4, "99 s"), (100, "2 min"), (5999, "1 h 40 min")]
)
def test_times_are_said_as_people_say_them(seconds, said):
    assert duration(seconds) == said


def test_what_happens_inside_a_count_is_not_counted_too(impatient):
    for _ in track(range(2), "assigning", total=2):
        for item in track(range(2), "encoding", total=2):
            if item == 1:
                until(lambda: len(impatient()) > 3)
    assert all(line.startswith("assigning") for line in impatient())
    for item in track(range(2), "encoding", total=2):
        if item == 1:
            until(lambda: any(line.startswith("encoding") for line in impatient()))
