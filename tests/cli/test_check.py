"""``eventide check`` as a user meets it: files in, a page or JSON out, errors with exit codes."""

import json
import shlex
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from eventide.cli.main import app
from eventide.cli.options import column_mapping
from eventide.data.sample import sample
from eventide.errors import BadSetting, MissingColumn, OutputError, RejectedRows, UnreadableSource
from processes import LONG

MAIN = "from eventide.cli.main import main; main()"
GOOD = "id,text,created_at,event\n1,water in the street,2024-03-01,flood\n2,smoke,2024-03-02,fire\n"


@pytest.fixture
def check():
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, ["check", *map(str, arguments)])


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(GOOD + "3,,2024-03-03,flood\n")
    return path


def test_a_page_of_facts(check, good):
    result = check(good)
    assert result.exit_code == 0
    assert "2 read, 2 usable, 0 quarantined" in result.output
    assert "flood" in result.output
    assert "eventide train" in result.output


def test_json_is_one_object_with_the_same_facts(check, good):
    result = check(good, "--json")
    found = json.loads(result.output)
    assert found["rows"]["kept"] == 2
    assert {event["event"] for event in found["classes"]["events"]} == {"fire", "flood"}
    assert found["times"]["first"].startswith("2024-03-01T00:00:00")


def test_columns_can_be_mapped(check, tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("key,body,when,topic\n1,water,2024-03-01,flood\n")
    mapped = [
        f"--column={pair}" for pair in ("id=key", "text=body", "created_at=when", "event=topic")
    ]
    found = json.loads(check(path, "--json", *mapped).output)
    assert found["classes"]["events"][0]["event"] == "flood"
    assert found["columns"]["created_at"] == "when"


def test_quarantined_rows_are_shown_and_written_on_request(check, bad, tmp_path):
    out = tmp_path / "rejected.csv"
    result = check(bad, "--rejected", out)
    assert result.exit_code == 0
    assert "1 quarantined" in result.output
    assert pl.read_csv(out).select("row", "column").rows() == [(3, "text")]


@pytest.mark.parametrize("write", [False, True])
def test_strict_fails_and_still_writes_the_rows(check, bad, tmp_path, write):
    out = tmp_path / "rejected.jsonl"
    result = check(bad, "--strict", *(["--rejected", out] if write else []))
    assert isinstance(result.exception, RejectedRows)
    assert out.exists() is write


@pytest.mark.parametrize("strict", [False, True])
def test_the_page_is_shown_however_bad_the_file_is(check, tmp_path, strict):
    """Row 2: check is the tool to look with, even if everything is rejected."""
    path, out = tmp_path / "bad dates.csv", tmp_path / "rejected.csv"
    path.write_text("id,text,created_at,event\n1,a,03/04/2013,x\n2,b,05/06/2013,y\n")
    result = check(path, "--rejected", out, *(["--strict"] if strict else []))
    assert "2 read, 0 usable, 2 quarantined" in result.output
    assert "--day-first" in result.output
    assert pl.read_csv(out)["row"].to_list() == [1, 2]
    assert isinstance(result.exception, RejectedRows) is strict
    mended = check(path, "--day-first")
    assert "2 usable" in mended.output
    assert f"  eventide train '{path}' --out model --day-first" in mended.output.splitlines()


def test_several_files_globs_and_standard_input(check, good, bad, tmp_path):
    """Row 24: one page for all of them."""
    second = tmp_path / "second.csv"
    second.write_text(GOOD.replace("\n1,", "\n8,").replace("\n2,", "\n9,"))
    for arguments in ([good, second], [tmp_path / "[gs]*.csv"]):
        result = check(*arguments)
        assert "4 read, 4 usable, 0 quarantined" in result.output, result.output
    piped = CliRunner().invoke(app, ["check", "-"], input=GOOD)
    assert "2 read, 2 usable" in piped.output
    assert "eventide train FILE --out model" in " ".join(piped.output.split())


def test_the_encoding_is_guessed_said_and_can_be_given(check, tmp_path):
    """Row 20: --encoding, and cp1252 guessed."""
    path = tmp_path / "western.csv"
    path.write_bytes(GOOD.replace("water", "água").encode("cp1252"))
    assert "read as cp1252, a guess" in " ".join(check(path).output.split())
    assert "cp1252" not in check(path, "--encoding", "latin-1").output
    assert isinstance(check(path, "--encoding", "latinn").exception, BadSetting)


def test_a_typo_in_a_column_is_an_error_with_a_suggestion(check, tmp_path):
    """Row 16: --column user=handel."""
    path = tmp_path / "theirs.csv"
    path.write_text("id,text,created_at,handle\n1,water,2024-03-01,ann\n")
    error = check(path, "--column", "user=handel").exception
    assert isinstance(error, MissingColumn)
    assert "--column user=handle" in str(error)


def test_the_command_that_is_said_next_can_be_run(check, tmp_path, monkeypatch):
    """Row 21: pasted as it is, `train` takes it (here it is only parsed and read)."""
    path = tmp_path / "my file.csv"
    path.write_text(
        "key,body,when,topic\n" + "".join(f"{n},t{n},13/06/2013,{'ab'[n % 2]}\n" for n in range(8))
    )
    mapped = [
        "--column=id=key",
        "--column=text=body",
        "--column=created_at=when",
        "--column=event=topic",
    ]
    step = json.loads(check(path, "--json", "--day-first", *mapped).output)["next_step"]
    words = shlex.split(step.partition("Train on it: ")[2])
    assert words[:2] == ["eventide", "train"]
    again = CliRunner().invoke(
        app, ["check", *[w for w in words[2:] if w not in ("--out", "model")]]
    )
    assert "8 usable" in again.output


def test_strict_accepts_a_good_file(check, good):
    assert check(good, "--strict").exit_code == 0


def test_bad_input_is_a_typed_error(check, good, tmp_path):
    assert isinstance(check(tmp_path / "absent.csv").exception, UnreadableSource)
    assert isinstance(check(good, "--column", "text").exception, BadSetting)
    assert isinstance(check(good, "--column", "text=nowhere").exception, MissingColumn)
    assert isinstance(check(good, "--rejected", tmp_path / "x.xlsx").exception, OutputError)


def test_a_column_mapped_twice_is_refused():
    with pytest.raises(BadSetting, match="twice"):
        column_mapping(["text=a", "text=b"])


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_pipe_gets_plain_text_in_any_encoding(tmp_path, encoding):
    path = tmp_path / "sample.parquet"
    sample().write_parquet(path)
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "check", str(path)],
        capture_output=True,
        env={"PYTHONIOENCODING": encoding, "PATH": ""},
        check=False,
        timeout=LONG,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(encoding)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines()[:-1])) <= 100  # the command to paste is never folded
    assert all(line == line.rstrip() for line in text.splitlines())
