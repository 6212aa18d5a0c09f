"""train, evaluate, assign, explain, forget and methods, as a person types them."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from eventide.cli.main import app, main

run = CliRunner()


def invoke(*words):
    return run.invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(small_sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("verbs")
    small_sample.write_parquet(path / "messages.parquet")
    new = small_sample.filter(pl.col("split") == "test").with_columns(id=pl.col("id") + "-new")
    new.select("id", "text", "created_at", "user").write_ndjson(path / "new.jsonl")
    done = invoke(
        "train", path / "messages.parquet", "--out", path / "model", "--encoder", "tfidf-svd:32",
        "--set", "training.epochs=3", "--set", "training.batch_size=64", "--keep-text",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "validation ACC" in done.output
    assert "next:" in done.output
    return path


def test_evaluate_takes_the_test_rows_and_names_the_protocol(folder, small_sample):
    shown = invoke("evaluate", folder / "model", folder / "messages.parquet")
    assert "transductive" in shown.output
    report = json.loads(
        invoke("evaluate", folder / "model", folder / "messages.parquet", "--json").output
    )
    assert report["rows"] == "test"
    assert report["messages"] == (small_sample["split"] == "test").sum()
    as_new = json.loads(
        invoke(
            "evaluate", folder / "model", folder / "messages.parquet", "--json", "--as-new"
        ).output
    )
    assert as_new["protocol"].startswith("inductive")


def test_assign_writes_one_row_per_message(folder):
    out = folder / "opinions.jsonl"
    done = invoke("assign", folder / "model", folder / "new.jsonl", "--out", out)
    assert done.exit_code == 0
    assert "Most doubtful messages" in done.output
    written = pl.read_ndjson(out)
    assert written["id"].to_list() == pl.read_ndjson(folder / "new.jsonl")["id"].to_list()
    lines = invoke("assign", folder / "model", folder / "new.jsonl", "--json").output.splitlines()
    assert [json.loads(line)["id"] for line in lines] == written["id"].to_list()


def test_assign_counts_what_it_cannot_read(folder, tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text((folder / "new.jsonl").read_text() + '{"id": "x"\n')
    done = invoke("assign", folder / "model", broken, "--json", "--rejected", tmp_path / "bad.csv")
    assert done.exit_code == 0
    assert "1 rejected" in done.stderr
    assert len(pl.read_csv(tmp_path / "bad.csv")) == 1


def test_explain_shows_views_and_neighbours(folder):
    shown = invoke("explain", folder / "model", folder / "messages.parquet")
    assert "entity view" in shown.output
    found = json.loads(
        invoke("explain", folder / "model", folder / "messages.parquet", "--json").output
    )
    assert [view["view"] for view in found["views"]] == ["hashtag", "entity", "user"]


def test_forget_by_author(folder, small_sample, tmp_path):
    out = tmp_path / "model"
    invoke(
        "train", folder / "messages.parquet", "--out", out, "--encoder", "tfidf-svd:16",
        "--set", "training.epochs=1",
    )  # fmt: skip
    author = small_sample["user"].drop_nulls()[0]
    assert "forgotten" in invoke("forget", out, "--user", author).output


def test_methods_and_settings_are_listed():
    assert "ucl-ec" in invoke("methods").output
    assert "training.epochs" in invoke("methods", "--settings").output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["train", "nothing.jsonl", "--out", "m"], "no such file"),
        (["assign", "no-model", "messages.jsonl"], "no model here"),
        (["train", "x", "--out", "m", "--set", "training.epoch=3"], "did you mean"),
        (["train", "x", "--out", "m", "--set", "nonsense"], "GROUP.NAME=VALUE"),
    ],
)
def test_errors_say_what_and_end_with_two_without_a_traceback(
    words, says, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["eventide", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error
