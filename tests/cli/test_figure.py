"""``eventide figure`` as a person types it."""

import json

import pytest
from typer.testing import CliRunner

from eventide.cli.main import app, main

run = CliRunner()


def invoke(*words):
    return run.invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_the_list_names_every_figure():
    shown = invoke("figure", "--list")
    assert shown.exit_code == 0
    assert "class-uncertainty" in shown.output
    names = [each["name"] for each in json.loads(invoke("figure", "--list", "--json").output)]
    assert names[-1] == "architecture"


def test_the_architecture_needs_no_data(tmp_path):
    out = tmp_path / "docs" / "architecture.svg"
    done = invoke("figure", "architecture", "--out", out)
    assert done.exit_code == 0, done.output
    assert "temporal graph network" in done.output
    assert out.read_text().startswith("<?xml")


def test_numbers_and_a_figure_from_a_file(small_sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_sample.write_parquet("messages.parquet")
    words = ("figure", "right-wrong", "messages.parquet", "--split", "stored",
             "--encoder", "tfidf-svd:16", "--set", "training.epochs=2")  # fmt: skip
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    assert "AUROC" in done.output
    assert (tmp_path / "right-wrong.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "right-wrong.png").unlink()
    said = invoke(*words, "--json").stdout
    numbers = json.loads(said)
    assert invoke(*words, "--json").stdout == said
    assert numbers["figure"] == "right-wrong"
    assert numbers["methods"][0]["method"] == "ucl-ec"
    assert not (tmp_path / "right-wrong.png").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["figure"], "which figure"),
        (["figure", "tsme", "x"], "did you mean 'tsne'"),
        (["figure", "tsne"], "needs messages"),
        (["figure", "tsne", "x", "--out", "a.bmp"], ".png, .pdf, .svg"),
        (["figure", "groups", "x", "--view", "user"], "another view"),
    ],
)
def test_errors_say_what_to_do(words, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["eventide", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
