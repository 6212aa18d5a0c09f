"""``eventide compare`` as a person types it."""

import json

import pytest
from typer.testing import CliRunner

from eventide.cli.main import app, main

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
    assert done.stderr == ""
    lines = (folder / "out" / "runs.jsonl").read_text().splitlines()
    assert len(lines) == 4
    names = {"comparison", "significance", "seconds", "view-quality"}
    for suffix, more in (("md", {"tables"}), ("tex", set()), ("csv", set())):
        assert {path.stem for path in (folder / "out").glob(f"*.{suffix}")} == names | more

    again = invoke(folder, "--methods", "ce,ucl-ec", "--json")
    data = json.loads(again.stdout)
    assert [each["runs"] for each in data["contestants"]] == [2, 2]
    assert data["changes"]["training.epochs"] == "2"
    assert (folder / "out" / "runs.jsonl").read_text().splitlines() == lines


def test_the_long_tail_group_brings_its_table(folder, monkeypatch):
    from eventide.methods import METHODS

    kept = {name: METHODS.entry(name) for name in ("ce", "ucl", "ucl-ec")}
    monkeypatch.setattr(METHODS, "_entries", kept)
    done = invoke(folder, "--methods", "long-tail", "--seeds", "0,1")
    assert done.exit_code == 0, done.output
    assert "Comparison with long-tail methods" in done.output
    assert "note: left out" in done.output
    assert "ucl-ec+cb" in done.output


def test_an_interrupt_leaves_a_word_and_no_traceback(folder, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("eventide.comparison.compare", interrupted)
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
    ],
)
def test_errors_say_what_and_end_with_two(words, says, folder, monkeypatch, capsys):
    source = folder / "messages.parquet"
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["eventide", "compare", str(source), "--methods", "ce", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_help_has_examples():
    shown = run.invoke(app, ["compare", "--help"], env={"COLUMNS": "200"})
    assert "Example: eventide compare" in shown.output
