"""``eventide compare --regimes`` and ``--from-log`` as a person types them."""

import json

import pytest

from eventide.cli.main import main
from eventide.experiments import engine
from eventide.experiments.engine import Step
from eventide.experiments.run_log import RunLog
from invented_regimes import invented, record

SHARES = {
    "random": {"ucl-ec+cb": [0.9, 0.8], "ce": [0.7, 0.6]},
    "scarce-5": {"ucl-ec+cb": [0.6, 0.6], "ce": [0.7, 0.7]},
}


@pytest.fixture
def eventide(tmp_path, monkeypatch, capsys):
    """Type a command in an empty folder; return its exit code, and what it printed and said."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["eventide", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def log(tmp_path):
    """A folder with a log of runs in two regimes."""
    path = tmp_path / "kept" / "runs.jsonl"
    for regime, methods in SHARES.items():
        for name, shares in methods.items():
            for seed, share in enumerate(shares):
                RunLog(path).append(record(regime, name, seed, share))
    return path


def test_tables_are_made_from_a_log_and_nothing_runs(eventide, log, monkeypatch):
    monkeypatch.setattr(engine, "run_jobs", None)
    code, out, _ = eventide("compare", "crisislex-lt28", "--from-log", log)
    assert code == 0
    accuracy, f1, tail = (out.index(each) for each in ("Accuracy (ACC)", "Macro-F1", "tail third"))
    assert accuracy < f1 < tail
    assert "random: ucl-ec+cb is best" in out
    assert "commit abc1234" in out
    page = (log.parent / "regimes.md").read_text()
    assert "eventide compare crisislex-lt28 --from-log" in page
    assert (log.parent / "regimes.svg").is_file()
    code, out, _ = eventide("compare", "crisislex-lt28", "--from-log", log, "--out", "new")
    assert code == 0
    assert "replaced" not in out
    code, out, _ = eventide("compare", "crisislex-lt28", "--from-log", log, "--out", "new")
    assert "earlier regimes in this folder were replaced" in out


def test_a_program_reads_json(eventide, log):
    code, out, _ = eventide(
        "compare", "crisislex-lt28", "--from-log", log, "--regimes", "scarce-5", "--methods",
        "ce,ucl-ec+cb", "--reference", "ce", "--json",
    )  # fmt: skip
    assert code == 0
    data = json.loads(out)
    assert list(data["regimes"]) == ["scarce-5"]
    assert data["reference"] == "ce"
    assert [each["name"] for each in data["regimes"]["scarce-5"]["variants"]] == ["ce", "ucl-ec+cb"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--regimes", "all", "--split", "random"], "--split cannot be given with regimes"),
        (["--regimes", "all", "--protocol", "inductive"], "--protocol cannot be given"),
        (["--tuning"], "add --regimes all"),
        (["--regimes", "randon"], "did you mean 'random'"),
        (["--regimes", "random", "--methods", "ucl-ek"], "did you mean"),
        (["--regimes", "random", "--seeds", "none"], "names no seed"),
        (["--regimes", "random", "--reference", "nobody"], "not among the compared"),
        (["--regimes", "random", "--encoder", "wordlama"], "did you mean 'wordllama'"),
        (["--regimes", "random", "--out", "others"], "regimes.md is there already"),
        (["--from-log", "nowhere.jsonl"], "no such run log"),
    ],
)
def test_mistakes_are_said_before_anything_is_read(eventide, tmp_path, words, says):
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "regimes.md").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    code, _, said = eventide("compare", "this file does not exist.csv", *words)
    assert code == 2
    assert says in said
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--tuning"], "no run without the locked messages"),
        (["--regimes", "random,unseen"], "no regime called 'unseen'"),
        (["--methods", "bcl"], "no method called 'bcl'"),
        (["--reference", "ucl"], "not among the compared"),
        (["--split", "random"], "--split cannot be given with regimes"),
    ],
)
def test_what_a_log_does_not_hold_is_refused(eventide, log, words, says):
    code, _, said = eventide("compare", "crisislex-lt28", "--from-log", log, *words)
    assert code == 2
    assert says in said
    assert not (log.parent / "regimes.md").exists()


def test_another_dataset_is_not_taken_for_this_one(eventide, log):
    code, _, said = eventide("compare", "crisislex-t7", "--from-log", log)
    assert code == 2
    assert "no run on 'crisislex-t7'" in said


@pytest.fixture
def engine_called(monkeypatch):
    """A stand-in for the engine; holds what it was called with."""
    called = {}

    def compare_regimes(data, variants, seeds, regimes, *, watch, **asked):
        called.update(asked, names=[each.name for each in variants], seeds=seeds, regimes=regimes)
        for name in regimes:
            watch(name, Step(0, 4, notes=("kept some",)))
            watch(name, Step(1, 4, record(name, "ce", 0, 0.5)))
        if called.get("stop"):
            raise KeyboardInterrupt
        shares = {regime: {n: [0.5, called.get("share", 0.6)] for n in called["names"]}
                  for regime in regimes}  # fmt: skip
        return invented(shares, tuning=asked["tuning"], path=asked["out"] / "runs.jsonl")

    monkeypatch.setattr(engine, "compare_regimes", compare_regimes)
    return called


@pytest.fixture
def messages(small_sample, tmp_path):
    small_sample.write_parquet(tmp_path / "messages.parquet")
    return tmp_path / "messages.parquet"


def test_the_engine_gets_what_was_asked_for(eventide, messages, engine_called):
    code, out, said = eventide(
        "compare", messages, "--regimes", "random,label-noise-20", "--tuning", "--methods",
        "ce,ucl", "--seeds", "2", "--encoder", "tfidf-svd:16", "--workers", "1", "--set",
        "training.epochs=2", "--out", "out",
    )  # fmt: skip
    assert code == 0, said
    assert engine_called["regimes"] == ["random", "label-noise-20"]
    assert engine_called["seeds"] == [0, 1]
    assert engine_called["tuning"] is True
    assert engine_called["encoder"] == "tfidf-svd:16"
    assert engine_called["changes"] == {"training.epochs": "2"}
    assert "note: label-noise-20: kept some" in said
    assert "tuning: locked messages left out" in out
    assert "figure: out/regimes.png" in out


def test_failed_and_stopped_runs_end_with_one(eventide, messages, engine_called):
    words = ("compare", messages, "--regimes", "random", "--methods", "ce", "--seeds", "2")
    engine_called["share"] = None
    code, _, said = eventide(*words)
    assert code == 1
    assert "ce (random, seed 1): bad luck" in said
    engine_called["stop"] = True
    code, _, said = eventide(*words)
    assert code == 1
    assert "goes on with what is in comparison-messages" in said
