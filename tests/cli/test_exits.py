"""Row 21 and 22: however the command line ends, it says so in a line and with the right code."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
import typer

from eventide.cli import main as command_line
from eventide.cli.exits import exit_code, stoppable
from eventide.errors import BadSetting, CannotWrite
from processes import LONG, opened_for_writing

LIKE_A_TERMINAL = """
import signal
from eventide.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
main()
"""
EVENTIDE = [sys.executable, "-m", "eventide"]


def raising(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadSetting("no such thing", next_step="--rows test"), 2, "error: no such thing\n  next:  --rows test\n"),
        (CannotWrite("the disk is full", where="x"), 1, "error: the disk is full\n  where: x\n"),
        (ValueError("operands could not be\nbroadcast"), 1, "error: this is a bug in eventide: ValueError: operands could not be broadcast\n  next:  report it with the traceback that EVENTIDE_DEBUG=1 shows\n"),
        (KeyError("weights\x1b[31m"), 1, "error: this is a bug in eventide: KeyError: 'weights\\x1b[31m'\n  next:  report it with the traceback that EVENTIDE_DEBUG=1 shows\n"),
        (MemoryError(), 1, "error: out of memory\n  next:  give fewer messages at once\n"),
        (OSError(5, "Input/output error", "a.csv"), 1, "error: Input/output error\n  where: a.csv\n  next:  EVENTIDE_DEBUG=1 shows what was being done\n"),
        (KeyboardInterrupt(), 130, "stopped\n"),
        (SystemExit(2), 2, ""),
        (SystemExit(None), 0, ""),
        (SystemExit("told"), 1, ""),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else "",
)  # fmt: skip
def test_every_end_has_a_code_and_a_message(error, code, said, capsys, monkeypatch):
    """Row 21: never a raw traceback; a bug says that it is one and how to see more."""
    monkeypatch.delenv("EVENTIDE_DEBUG", raising=False)
    assert exit_code(raising(error)) == code
    assert capsys.readouterr().err == said


def test_the_traceback_is_there_for_who_asks(monkeypatch):
    """Row 21: EVENTIDE_DEBUG=1."""
    monkeypatch.setenv("EVENTIDE_DEBUG", "1")
    with pytest.raises(ValueError, match="why"):
        exit_code(raising(ValueError("why")))


def test_a_verb_says_what_became_of_its_work(capsys):
    """Row 22: Ctrl-C is one line, and says how to go on where the verb knows."""
    with pytest.raises(typer.Exit) as ended, stoppable("nothing was written"):
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "stopped: nothing was written\n"


@pytest.mark.parametrize("verb", ["assign", "evaluate", "explain"])
def test_ctrl_c_in_a_verb_is_one_line(invoke, trained, monkeypatch, verb):
    """Row 22."""
    monkeypatch.setattr("eventide.data.read", lambda *_, **__: raising(KeyboardInterrupt())())
    done = invoke(verb, trained / "model", trained / "new.jsonl")
    assert done.exit_code == 130
    assert re.fullmatch(r"stopped: nothing was \w+\n", done.stderr)


def test_a_real_ctrl_c_ends_with_130_and_no_traceback(tmp_path):
    """Row 22: as a person presses it, while a verb waits for its input."""
    source = tmp_path / "slow.jsonl"
    os.mkfifo(source)
    with subprocess.Popen(
        [sys.executable, "-c", LIKE_A_TERMINAL, "check", str(source)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as running:
        writer = opened_for_writing(source, running)
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        try:
            out, error = running.communicate(timeout=60)
        finally:
            os.close(writer)
            running.kill()
    assert running.returncode == 130
    assert error.decode().splitlines()[-1].startswith("stopped")
    assert b"Traceback" not in error
    assert out == b""


@pytest.mark.parametrize("shell", ["methods --settings | true", "methods --settings | head -1"])
def test_a_reader_that_goes_away_is_no_error(shell):
    """Row 14: ``| head -1`` ends quietly."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"'{sys.executable}' -m eventide {shell}"],
        capture_output=True,
        check=False,
        timeout=LONG,
    )
    assert done.returncode in (0, 141)
    assert done.stderr == b""


def test_a_closed_pipe_in_the_middle_ends_quietly(capsys, monkeypatch):
    monkeypatch.setattr("eventide.cli.exits._discard_output", lambda: None)
    assert exit_code(raising(BrokenPipeError(32, "Broken pipe"))) == 141
    assert capsys.readouterr().err == ""


def test_a_full_disk_behind_standard_output_is_told():
    """Row 5: what cannot be printed is not taken for printed."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*EVENTIDE, "methods"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=LONG
        )
    assert done.returncode == 1
    assert b"error: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["evaluate", "m", "f", "--rows", "tset"], "did you mean --rows test?"),
        (["methods", "--preset", "papre"], "did you mean --preset paper?"),
        (["assigm"], "Did you mean 'assign'?"),
        (["assign", "m"], "Missing argument"),
    ],
)
def test_typos_are_told_with_a_suggestion_before_anything_is_read(words, said, monkeypatch, capsys):
    """Row 16."""
    monkeypatch.setattr("sys.argv", ["eventide", *words])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def verbs():
    from typer.main import get_command

    for name, verb in get_command(command_line.app).commands.items():
        below = getattr(verb, "commands", None)
        yield from ([name, each] for each in below) if below else ([name],)


@pytest.mark.parametrize("words", list(verbs()), ids=" ".join)
def test_every_verb_has_an_example_and_fits_80_columns(invoke, words):
    """Row 21: help that shows a command to start from."""
    shown = invoke(*words, "--help").output
    assert re.search(r"Example: +eventide ", shown)
    assert max(map(len, shown.splitlines())) <= 80
