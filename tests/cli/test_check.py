"""``eventide check`` as a user meets it: files in, a page or JSON out, errors with exit codes."""

import json
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from eventide.cli.main import app
from eventide.cli.options import column_mapping
from eventide.data.sample import sample
from eventide.errors import BadSetting, MissingColumn, OutputError, RejectedRows, UnreadableSource

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
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(encoding)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert all(line == line.rstrip() for line in text.splitlines())
