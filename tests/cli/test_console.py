"""Row 14 and 21: what a person sees is safe on any terminal, and can be pasted."""

import io
import json
import logging
import os
import re
import shlex
import subprocess
import sys
import warnings

import pytest

from eventide.cli import console
from eventide.cli.console import command, print_json, say, show
from eventide.errors import EventideWarning
from eventide.reports.terminal_table import plain_table

HARMFUL = "\x1b\x07\x08\x7f\x9b\x85\u202e\u2066\u200b\u2028\ufeff"


def harmless(text: str) -> bool:
    return not set(HARMFUL) & set(text)


@pytest.mark.parametrize(
    "words",
    [
        ["assign"], ["assign", "--json"], ["assign", "--with-text", "--json"],
        ["explain"], ["explain", "--json"], ["evaluate"], ["evaluate", "--json"],
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("width", [60, 200])
def test_escape_codes_in_messages_do_not_reach_the_terminal(invoke, hostile, words, width):
    """Row 14: ids, texts, authors and names of events, in tables and in JSON."""
    verb, *options = words
    done = invoke(verb, hostile / "model", hostile / "messages.parquet", *options, width=width)
    assert done.exit_code == 0, done.output
    assert harmless(done.output)
    if "--json" in options:
        first = done.output.splitlines()[0] if verb == "assign" else done.output
        assert "\x1b[31m" in json.dumps(json.loads(first), ensure_ascii=False).encode().decode(
            "unicode_escape"
        )
    elif width == 200 or verb == "explain":
        assert r"\x1b[31m" in done.output


def test_escape_codes_in_names_of_files_and_columns_do_not_reach_the_terminal(
    tmp_path, trained, monkeypatch, capsys
):
    """Row 14: errors quote what they complain about."""
    from eventide.cli.main import main

    source = tmp_path / "a\x1b[31mb.csv"
    source.write_text("key\x1b[2J,words\u202e\n1,water\n")
    for words in (
        ["assign", str(trained / "model"), str(source)],
        ["check", str(source)],
        ["check", "\x1b[1m"],
    ):
        monkeypatch.setattr("sys.argv", ["eventide", *words])
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr()
        assert "error:" in said.err
        assert harmless(said.out + said.err)


def test_quarantined_rows_are_told_safely(invoke, trained, tmp_path):
    """Row 14: the summary names the file and quotes columns."""
    source = tmp_path / "bad\x1b[31m.jsonl"
    source.write_text((trained / "new.jsonl").read_text() + '{"id": "x\\u001b[31m"}\n')
    done = invoke("assign", trained / "model", source)
    assert "1 rejected" in done.stderr
    assert harmless(done.stderr + done.output)


PROGRAM = """
import json, sys
from eventide.cli.main import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["eventide", *words]
    try:
        main()
    except SystemExit as ended:
        sys.stderr.write(f"[{ended.code}]")
"""


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["C", "ascii"],
)
def test_a_terminal_without_unicode_gets_ascii(trained, tmp_path, environment):
    """Row 14, failure 24: UnicodeEncodeError in assign and evaluate on an ASCII terminal."""
    model, messages = str(trained / "model"), str(trained / "messages.parquet")
    odd = str(tmp_path / "Überschwemmung 🔥.csv")
    commands = [
        ["assign", model, messages], ["assign", model, messages, "--json", "--with-text"],
        ["evaluate", model, messages], ["explain", model, messages], ["check", odd],
        ["methods"], ["data", "list"], ["assign", "--help"],
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        check=False,
        timeout=100,
    )
    error = re.sub(r"evaluating .* so far\n", "", done.stderr.decode())  # on a busy machine
    assert "Traceback" not in error
    assert "UnicodeEncodeError" not in error
    assert error.startswith("[0][0][0][0]error: there is no such file")
    assert error.endswith("[2][0][0][0]")
    if "PYTHONUTF8" in environment:
        assert error.isascii()
        text = done.stdout.decode("ascii")
        assert "\\u" in text  # JSON keeps every letter, escaped
        for line in text.splitlines():
            if line.startswith('{"id"'):
                assert json.loads(line)["text"]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
def test_json_is_whole_in_every_encoding_and_never_plays_with_the_terminal(monkeypatch, encoding):
    """Row 14: --json output has no raw control characters, and no letter is lost."""
    value = {"text": f"Łódź 🔥 é {HARMFUL}\n\t\ud83d"}
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", stream)
    print_json(value)
    stream.flush()
    written = stream.buffer.getvalue().decode(encoding)
    assert json.loads(written) == value
    assert harmless(written)


def test_a_table_on_an_ascii_terminal_keeps_its_columns(monkeypatch):
    """Row 14: signs that cannot be written do not move what stands beside them."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setenv("COLUMNS", "30")
    table = plain_table()
    table.add_column("event", max_width=8, no_wrap=True)
    table.add_column("text")
    table.add_row("Überschwemmung", "here")
    table.add_row("fire", "there")
    show(table)
    stream.flush()
    lines = stream.buffer.getvalue().decode("ascii").splitlines()
    assert lines[1].index("here") == lines[2].index("there")
    assert lines[1].startswith("?bersch~")


def test_markup_in_messages_is_shown_as_it_is(capsys):
    table = plain_table()
    table.add_column("text")
    table.add_row("[bold]not bold[/bold] :fire:")
    show(table)
    assert "[bold]not bold[/bold] :fire:" in capsys.readouterr().out


def test_a_printed_command_can_be_pasted():
    """Row 21: names with blanks and quotes are quoted."""
    words = ["assign", "my model", "it's.csv", "$HOME", "a;b"]
    assert shlex.split(command(*words)) == ["eventide", *words]


def test_every_command_that_the_demo_prints_is_whole(tmp_path):
    """Row 21: what stands behind a command is a comment to the shell."""
    from eventide.cli.demo import next_commands

    model, messages = tmp_path / "a demo" / "model", tmp_path / "a demo" / "sample.parquet"
    typed = [shlex.split(line, comments=True) for line in next_commands(model, messages)]
    assert typed[0] == ["eventide", "assign", str(model), str(messages)]
    assert typed[1] == ["eventide", "explain", str(model), str(messages)]


@pytest.fixture
def prepared(monkeypatch):
    """Streams, logger and warnings as the command line sets them, and as they were afterwards."""
    log = logging.getLogger("eventide")
    before = log.handlers[:], log.level, log.propagate
    with warnings.catch_warnings():
        console.prepare_streams()
        yield
    log.handlers[:], log.propagate = before[0], before[2]
    log.setLevel(before[1])


def test_log_lines_and_warnings_are_lines_on_standard_error(prepared, capsys):
    """Row 22: the command line shows INFO lines; a warning has no file and line of ours."""
    logging.getLogger("eventide").info("reading a\x1bb.csv: 4 s so far")
    logging.getLogger("eventide.data").info("and a child")
    logging.getLogger("eventide").debug("nothing")
    warnings.warn("three rows were set aside", EventideWarning, stacklevel=1)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        r"reading a\x1bb.csv: 4 s so far", "and a child", "warning: three rows were set aside",
    ]  # fmt: skip


def test_lines_are_safe(capsys):
    say("a\x1bb\n  c")
    assert capsys.readouterr().out == "a\\x1bb\n  c\n"
