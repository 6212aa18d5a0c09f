"""``eventide assign`` to a folder: what it writes, says and refuses."""

import json

import polars as pl
import pytest

from eventide.errors import BadSetting, OutputError, UnreadableSource


@pytest.fixture
def assign(invoke, trained):
    """Assign new messages; the test says what else is typed."""
    return lambda *words, **more: invoke(
        "assign", trained / "model", trained / "new.jsonl", "--workers", 1, *words, **more
    )


def test_a_folder_gets_parts_and_the_same_command_goes_on(assign, invoke, trained, tmp_path):
    done = assign("--out", tmp_path / "parts", width=80)
    assert done.exit_code == 0, done.output
    invoke("assign", trained / "model", trained / "new.jsonl", "--out", tmp_path / "one.parquet")
    one = pl.read_parquet(tmp_path / "one.parquet")
    parts = pl.read_parquet(tmp_path / "parts" / "part-*.parquet")
    assert parts["id"].to_list() == one["id"].to_list()
    assert parts["event"].to_list() == one["event"].to_list()
    assert f"{len(one):,} opinions in 1 Parquet files" in done.output
    again = assign("--out", tmp_path / "parts")
    assert "1 of 1 parts were finished before and kept" in again.output


def test_json_says_how_it_went(assign, tmp_path):
    told = json.loads(assign("--out", tmp_path / "parts", "--json").stdout)
    assert told["messages"] == told["written"] == sum(each["messages"] for each in told["events"])
    assert told["kept"] == told["rejected"] == 0


def test_quarantined_rows_are_counted_and_collected(invoke, trained, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text((trained / "new.jsonl").read_text() + "{broken\n")
    words = ("--out", tmp_path / "parts", "--rejected", tmp_path / "rows.csv", "--workers", 1)
    done = invoke("assign", trained / "model", bad, *words)
    assert "1 row quarantined" in done.output
    assert pl.read_csv(tmp_path / "rows.csv")["file"].to_list() == [str(bad)]


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["--out", "parts", "--most-uncertain", 5], BadSetting, "--most-doubtful cannot be had"),
        (["--out", "one.csv"], BadSetting, "need a folder to write to"),
        (["--out", "parts", "--engine", "spark"], BadSetting, "--engine cannot be 'spark'"),
        (["--out", "parts", "--ray-address", "auto"], BadSetting, "are options of Ray"),
        (["--out", "parts", "--engine", "ray", "--ray-address", "ray://h:1"], BadSetting, "client"),
    ],
)
def test_options_that_do_not_fit_are_refused(assign, tmp_path, monkeypatch, words, error, said):
    monkeypatch.chdir(tmp_path)
    done = assign(*words)
    assert isinstance(done.exception, error)
    assert said in str(done.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["folder", "file"])
def test_a_folder_is_checked_before_anything_is_read(invoke, tmp_path, name):
    """A model or file that is not there would be a later error."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "letter.txt").write_text("dear")
    (tmp_path / "file").write_text("")
    done = invoke("assign", tmp_path / "no-model", "no-file", "--out", tmp_path / name)
    assert isinstance(done.exception, OutputError)
    assert done.exception.next_step


def test_standard_input_and_inputs_as_outputs_are_refused(invoke, trained, tmp_path):
    done = invoke("assign", trained / "model", "-", "--out", tmp_path / "parts")
    assert isinstance(done.exception, UnreadableSource)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "new.jsonl").write_text((trained / "new.jsonl").read_text())
    done = invoke("assign", trained / "model", tmp_path / "in", "--out", tmp_path / "in")
    assert isinstance(done.exception, OutputError)
    assert (tmp_path / "in" / "new.jsonl").exists()
