"""``eventide claims`` as a person types it."""

import json

import pytest
from typer.testing import CliRunner

from eventide.cli.main import app, main
from eventide.experiments.run_log import RunLog
from eventide.experiments.sources import code_name
from eventide.reports.claims import CLAIMS

run = CliRunner()


@pytest.fixture(scope="module")
def folder(small_sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("claims")
    small_sample.write_parquet(path / "messages.parquet")
    return path


def invoke(folder, verb, *words):
    common = [
        verb, folder / "messages.parquet", "--split", "proportional", "--encoder", "tfidf-svd:16",
        "--workers", "1", "--set", "training.epochs=2", "--set", "network.head_hidden=16",
        "--seeds", "2",
    ]  # fmt: skip
    return run.invoke(app, [str(word) for word in (*common, *words)], catch_exceptions=False)


def test_claims_share_the_runs_of_a_comparison(folder):
    assert invoke(folder, "compare", "--methods", "ucl", "--out", folder / "runs").exit_code == 0
    kept = (folder / "runs" / "runs.jsonl").read_text().splitlines()
    words = ("--runs", folder / "runs", "--only", "gains,cost,lambda3,errors")
    done = invoke(folder, "claims", *words, "--out", folder / "docs" / "claims.md")
    assert done.exit_code == 0, done.output
    assert "The paper's claims on messages" in done.output
    assert "seconds of ucl-ec > of ucl" in done.output
    assert "too few runs" in done.output
    lines = (folder / "runs" / "runs.jsonl").read_text().splitlines()
    assert lines[:2] == kept
    # ucl is there already; lambda 3 = 0.5 is ucl-ec itself: ce, ucl-ec and two more lambdas run.
    assert len(lines) == 2 + 2 * 4
    text = (folder / "docs" / "claims.md").read_text()
    assert text.startswith("# The paper's claims on messages")
    assert "| lambda3 | ucl-ec, agreement_weight=0.01 ~ ucl-ec, agreement_weight=0.5 |" in text
    assert "## What a margin can do" in text
    assert "## default, proportional: " in text
    code = code_name([RunLog(folder / "runs" / "runs.jsonl").read()[0][0].made_by])
    assert f"Code: {code}" in done.output
    assert f"- code: {code}" in text

    again = invoke(folder, "claims", "--runs", folder / "runs", "--only", "lambda3,cost", "--json")
    data = json.loads(again.stdout)
    (condition,) = data["conditions"]
    assert [each["name"] for each in condition["findings"]] == ["lambda3", "cost"]
    assert condition["findings"][0]["links"][0]["text"] in text
    assert (folder / "runs" / "runs.jsonl").read_text().splitlines() == lines


def test_failed_runs_leave_a_claim_undecided(folder, monkeypatch):
    from eventide.methods.long_tail.cross_entropy import CrossEntropy

    def fit(self, *args):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(CrossEntropy, "fit", fit)
    done = invoke(folder, "claims", "--runs", folder / "other", "--only", "hybrid-psc", "--json")
    assert done.exit_code == 0, done.output
    (finding,) = json.loads(done.stdout)["conditions"][0]["findings"]
    assert finding["verdict"] == "undecided"
    assert "out of luck" in finding["links"][0]["measured"]


def test_claims_under_several_conditions(folder):
    """Two presets, two regimes: four verdicts for each claim, on one page."""
    words = ("--runs", folder / "many", "--only", "hybrid-psc,gains", "--presets", "paper,default")
    chosen = ("--regimes", "scarce-10,weak-vectors", "--out", folder / "many.md", "--json")
    done = invoke(folder, "claims", *words, *chosen, "--seeds", "1")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["conditions"]
    names = [
        f"{preset}, {regime}"
        for preset in ("paper", "default")
        for regime in ("scarce-10", "weak-vectors")
    ]
    assert [each["name"] for each in found] == names
    assert {each["protocol"] for each in found} == {"inductive"}
    assert not [note for each in found for note in each["notes"] if note.startswith("missing")]
    text = (folder / "many.md").read_text()
    assert f"| claim | {' | '.join(names)} | the paper says |" in text
    assert [text.count(f"\n## {name}: ") for name in names] == [1] * 4
    kept = RunLog(folder / "many" / "runs.jsonl").read()[0]
    assert {(run.preset, run.regime) for run in kept} == {
        (each["preset"], each["regime"]) for each in found
    }
    assert len(kept) == 3 * 4


def test_an_interrupt_leaves_a_word_and_no_traceback(folder, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("eventide.reports.figures.trained_runs.compare", interrupted)
    done = invoke(folder, "claims", "--runs", folder / "none", "--only", "order")
    assert done.exit_code == 1
    assert "goes on" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--only", "ordre"], "did you mean 'order'"),
        (["--seeds", "none"], "names no seed"),
        (["--regimes", "scarce-10,chronologic"], "did you mean 'chronological'"),
        (["--presets", "default,papr"], "did you mean 'paper'"),
        (["--presets", ","], "at least one preset"),
        (["--regimes", "unseen-event"], "takes its turn"),
        (["--only", "drift", "--set", "training.epoch=3"], "did you mean"),
        (["--column", "x"], "OURS=THEIRS"),
        (["--split", "randon"], "did you mean 'random'"),
        (["--preset", "papr"], "did you mean 'paper'"),
        (["--encoder", "wordlama"], "did you mean 'wordllama'"),
        (["--entities", "rule"], "did you mean 'rules'"),
        (["--out", "mine.md"], "there is a file already"),
        (["--out", "messages.csv", "--overwrite"], "the output is an input"),
        (["--out", "a-folder"], "a folder, where a file"),
        (["--runs", "mine.md"], "a file, where a folder"),
    ],
)
def test_typos_are_said_before_anything_is_read(words, says, tmp_path, monkeypatch, capsys):
    """Rows 5 and 16: what cannot be is an error with a suggestion, and nothing was read for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.md").write_text("mine")
    (tmp_path / "messages.csv").write_text("nothing that could be read")
    (tmp_path / "a-folder").mkdir()
    monkeypatch.setattr("sys.argv", ["eventide", "claims", "messages.csv", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
    assert (tmp_path / "mine.md").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"mine.md", "messages.csv", "a-folder"}


def test_help_names_every_claim():
    shown = run.invoke(app, ["claims", "--help"], env={"COLUMNS": "400"})
    assert "Example: eventide claims" in shown.output
    assert all(name in shown.output for name in CLAIMS.names())
