"""The verbs under ``eventide data``."""

import json
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from eventide.cli.main import app
from eventide.data.datasets import DATASETS
from eventide.data.datasets.crisislex_t7 import EVENTS, row_list
from eventide.errors import OutputError
from processes import LONG

WIDE = {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENTIDE_DATA", str(tmp_path / "data"))


@pytest.fixture
def checkout(tmp_path):
    for event in EVENTS:
        place = tmp_path / "checkout" / "data" / "CrisisLexT26" / event
        place.mkdir(parents=True)
        rows = row_list().filter(pl.col("event") == event)
        rows.select(
            pl.col("id").alias("Tweet ID"),
            ("text " + pl.col("id")).alias(" Tweet Text"),
            pl.lit("Related and informative").alias(" Informativeness"),
        ).write_csv(place / f"{event}-tweets_labeled.csv")
    return tmp_path / "checkout"


def run(*arguments):
    return CliRunner().invoke(app, ["data", *map(str, arguments)], env=WIDE)


def test_list_shows_every_dataset_and_its_source():
    shown = run("list").output
    for entry in DATASETS:
        assert entry.name in shown
        assert entry.load().obtain in shown
    assert "2,270" in shown
    assert "26,043" in shown
    rows = json.loads(run("list", "--json").output)
    assert [row["name"] for row in rows] == DATASETS.names()
    assert all(row["built"] is None for row in rows)


def test_help_says_where_to_get_the_sources():
    text = " ".join(run("build", "--help").output.split())
    for entry in DATASETS:
        assert entry.name in text
    assert "sajao/CrisisLex" in text
    assert "authors" in text


def test_build_writes_registers_and_reports(checkout, tmp_path):
    result = run("build", "crisislex-t7", "--from", checkout)
    assert result.exit_code == 0, result.output
    assert "2013_NY_train_crash" in result.output
    assert "950" in result.output
    facts = json.loads(
        run(
            "build", "crisislex-t7", "--from", checkout, "--json", "--out", tmp_path / "o.parquet"
        ).output
    )
    assert facts["messages"] == 2270
    assert facts["classes"][0] == {
        "event": EVENTS[0],
        "size": 1000,
        "train": 950,
        "val": 20,
        "test": 30,
    }
    assert pl.read_parquet(facts["path"]).height == 2270
    built = {row["name"]: row["built"] for row in json.loads(run("list", "--json").output)}
    assert built["crisislex-t7"] == facts["path"]


def test_build_can_split_otherwise(checkout):
    for kind in ("proportional", "chronological"):
        facts = json.loads(
            run("build", "crisislex-t7", "--from", checkout, "--split", kind, "--json").output
        )
        assert facts["val"] == pytest.approx(227, abs=4)
        assert facts["test"] == pytest.approx(454, abs=4)


@pytest.mark.parametrize("name", ["per-class", "duplicate-aware"])
def test_build_draws_the_splits_of_the_table(checkout, name):
    built = json.loads(
        run("build", "crisislex-t7", "--from", checkout, "--split", name, "--json").output
    )
    assert built["split"] == ("random" if name == "per-class" else name)
    together = any("near-duplicates, each kept whole" in note for note in built["notes"])
    assert together == (name == "duplicate-aware")
    refused = run("build", "crisislex-t7", "--from", checkout, "--split", "stored")
    assert "cannot be 'stored'" in str(refused.exception)


def test_a_built_set_is_read_by_its_name(checkout):
    from eventide.data import read

    run("build", "crisislex-t7", "--from", checkout)
    intake = read("crisislex-t7")
    assert intake.messages.height == 2270
    assert intake.messages["split"].null_count() == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("build", "crisislex-7", "--from", "x"), "did you mean 'crisislex-t7'"),
        (("build", "crisislex-t7", "--from", "nowhere"), "git clone"),
        (("build", "crisislex-t7", "--from", "x", "--split", "odd"), "random"),
    ],
)
def test_mistakes_exit_with_2_and_say_what_next(arguments, said):
    command = [
        sys.executable,
        "-c",
        "from eventide.cli.main import main; main()",
        "data",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONG)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_sample_is_written(tmp_path):
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    assert run("sample", "--out", one).exit_code == 0
    assert run("sample", "--out", other, "--seed", "1").exit_code == 0
    assert pl.read_parquet(one).height > 2000
    assert not pl.read_parquet(one).equals(pl.read_parquet(other))


def test_importing_the_verb_stays_light():
    check = (
        "import sys, eventide.cli.data; sys.exit('polars' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False, timeout=LONG).returncode == 0


def test_nothing_is_replaced_without_a_word(tmp_path, checkout):
    """Row 5: --overwrite where something is, the right kind of file, never the source."""
    out = tmp_path / "mine.parquet"
    out.write_text("mine")
    for words in (["sample"], ["build", "crisislex-t7", "--from", checkout]):
        refused = run(*words, "--out", out).exception
        assert isinstance(refused, OutputError)
        assert "--overwrite" in str(refused)
        assert isinstance(run(*words, "--out", tmp_path / "x.csv").exception, OutputError)
    assert out.read_text() == "mine"
    assert run("sample", "--out", out, "--overwrite").exit_code == 0
    itself = run("build", "events2012-100", "--from", out, "--out", out, "--overwrite").exception
    assert isinstance(itself, OutputError)
    assert pl.read_parquet(out).height > 2000
