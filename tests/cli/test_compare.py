"""``eventide compare`` as a person types it."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from eventide.cli.main import app, main
from eventide.cli.watching import run_lines
from eventide.errors import RejectedRows
from processes import until

run = CliRunner()


@pytest.fixture(scope="module")
def folder(small_sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("compare")
    small_sample.write_parquet(path / "messages.parquet")
    return path


def invoke(folder, *words):
    common = [
        "compare", folder / "messages.parquet", "--out", folder / "out", "--split", "proportional",
        "--encoder", "tfidf-svd:16", "--workers", "1", "--set", "training.epochs=2",
        "--set", "network.head_hidden=16", "--seeds", "2",
    ]  # fmt: skip
    return run.invoke(app, [str(word) for word in (*common, *words)], catch_exceptions=False)


def test_compare_prints_and_writes_tables_and_goes_on(folder):
    done = invoke(folder, "--methods", "ce,ucl-ec")
    assert done.exit_code == 0, done.output
    assert "Too few runs" in done.output
    assert "Accuracy against ucl-ec" in done.output
    assert "View quality" in done.output
    assert "note" not in done.stderr
    lines = (folder / "out" / "runs.jsonl").read_text().splitlines()
    assert len(lines) == 4
    names = {"comparison", "significance", "seconds", "view-quality"}
    for suffix, more in (("md", {"tables"}), ("tex", set()), ("csv", set())):
        assert {path.stem for path in (folder / "out").glob(f"*.{suffix}")} == names | more

    again = invoke(folder, "--methods", "ce,ucl-ec", "--json")
    assert "note: 4 of 4 runs kept from before (" in again.stderr
    data = json.loads(again.stdout)
    assert data["code"] in done.output
    assert [each["runs"] for each in data["variants"]] == [2, 2]
    assert data["changes"]["training.epochs"] == "2"
    assert (folder / "out" / "runs.jsonl").read_text().splitlines() == lines


def test_the_long_tail_group_brings_its_table(folder, monkeypatch):
    from eventide.methods import METHODS

    kept = {name: METHODS.entry(name) for name in ("ce", "ucl", "ucl-ec", "ucl-ec+cb")}
    monkeypatch.setattr(METHODS, "_entries", kept)
    done = invoke(folder, "--methods", "long-tail", "--seeds", "0,1")
    assert done.exit_code == 0, done.output
    assert "Comparison with long-tail methods" in done.output
    assert "note: left out" in done.output
    assert "Accuracy against ucl-ec+cb" in done.output
    assert "tables of an earlier comparison in this folder were replaced" in done.output


def test_an_interrupt_leaves_a_word_and_no_traceback(folder, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("eventide.experiments.compare", interrupted)
    done = invoke(folder, "--methods", "ce")
    assert done.exit_code == 1
    assert "goes on" in done.stderr


def test_failed_runs_end_with_one(folder, monkeypatch):
    from eventide.methods.long_tail.cross_entropy import CrossEntropy

    def fit(self, *args):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(CrossEntropy, "fit", fit)
    done = invoke(folder, "--methods", "ce", "--seeds", "7-8")
    assert done.exit_code == 1
    assert "2 runs failed" in done.stderr
    assert "ce (seed 7), ce (seed 8): RuntimeError: out of luck" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--methods", "ucl-ek"], "did you mean"),
        (["--seeds", "none"], "names no seed"),
        (["--seeds", "0"], "names no seed"),
        (["--split", "alphabetical"], "no split"),
        (["--split", "chronological", "--protocol", "transductive"], "is inductive"),
        (["--set", "training.epoch=3"], "did you mean"),
        (["--column", "x"], "OURS=THEIRS"),
        (["--split", "randon"], "did you mean 'random'"),
        (["--protocol", "inductiv"], "did you mean 'inductive'"),
        (["--preset", "papr"], "did you mean 'paper'"),
        (["--encoder", "wordlama"], "did you mean 'wordllama'"),
        (["--entities", "rule"], "did you mean 'rules'"),
        (["--reference", "foo"], "'foo' is not among the compared methods"),
        (["--reference", "ucl-ec"], "Known: ce"),
        (["--methods", "ce,ucl-ec", "--reference", "ucl-ek"], "did you mean 'ucl-ec'"),
        (["--out", "a-file"], "a file, where a folder"),
        (["--out", "others"], "comparison.csv is there already, and not of a comparison"),
    ],
)
def test_typos_are_said_before_anything_is_read(words, says, tmp_path, monkeypatch, capsys):
    """Rows 5 and 16: what cannot be is an error with a suggestion, and nothing was read for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("mine")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "comparison.csv").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    source = "this file does not exist.csv"
    monkeypatch.setattr("sys.argv", ["eventide", "compare", source, "--methods", "ce", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_rows_that_cannot_be_read_are_counted_and_written_out(small_sample, tmp_path, monkeypatch):
    """Row 2: compare has the manners of every verb that reads messages."""
    monkeypatch.chdir(tmp_path)
    broken = small_sample.with_columns(
        created_at=pl.when(pl.int_range(pl.len()) % 9 == 0)
        .then(pl.lit("no time at all"))
        .otherwise(pl.col("created_at").dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    )
    broken.select("id", "text", "created_at", "event").write_csv("messages.csv")
    words = ["compare", "messages.csv", "--methods", "lr-tfidf", "--seeds", "1", "--workers", "1",
             "--split", "proportional", "--encoder", "tfidf-svd:16"]  # fmt: skip
    done = run.invoke(app, [*words, "--rejected", "bad.csv"])
    assert done.exit_code == 0, done.output
    count = len(broken.filter(pl.col("created_at").str.starts_with("no")))
    assert f"{count} rejected" in done.stderr
    assert len(pl.read_csv("bad.csv")) == count
    assert f"{count} rejected" in Path("comparison-messages/tables.md").read_text()
    refused = run.invoke(app, [*words, "--strict"])
    assert isinstance(refused.exception, RejectedRows)


def test_a_line_now_and_then_where_no_bar_is_drawn(monkeypatch, caplog):
    """Row 22: in a pipe, the latest state is said every few seconds."""
    monkeypatch.setattr("eventide.progress.FIRST", 0.01)
    monkeypatch.setattr("eventide.progress.EVERY", 0.01)
    caplog.set_level("INFO", "eventide")

    def lines():
        return [record.getMessage() for record in caplog.records]

    with run_lines() as tell:
        for state in ("1 of 3 runs", "2 of 3 runs"):
            tell(state)
            until(lambda state=state: any(line.startswith(state) for line in lines()), state)
    assert lines()[0].startswith("1 of 3 runs (")
    assert lines()[-1].startswith("2 of 3 runs")


def test_help_has_examples():
    shown = run.invoke(app, ["compare", "--help"], env={"COLUMNS": "200"})
    assert "Example: eventide compare" in shown.output


@pytest.mark.parametrize(("verb", "without"), [("compare", ()), ("figure", ("chronological",))])
def test_help_shows_the_table_of_splits(verb, without):
    from eventide.data.splits import SPLITS

    page = run.invoke(app, [verb, "--help"], env={"COLUMNS": "200"}).output
    told = " ".join(page.replace("│", " ").split())
    for name, split in SPLITS.items():
        assert (f"{name}: {split.description}" in told) == (name not in without)
