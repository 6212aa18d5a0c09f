"""``eventide figure`` as a person types it."""

import json

import pytest
from typer.testing import CliRunner

from eventide.cli.main import app, main
from eventide.data.sample import sample

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


@pytest.mark.parametrize("name", ["right-wrong", "tsne", "reliability"])
def test_a_figure_of_locked_messages(name, small_sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_sample.drop("split").write_parquet("messages.parquet")
    done = invoke("figure", name, "messages.parquet", "--regime", "random", "--methods", "ucl-ec",
                  "--encoder", "tfidf-svd:16", "--set", "training.epochs=2")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "locked messages, random" in done.output
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["figure"], "which figure"),
        (["figure", "tsne", "x", "--regime", "scarse-5"], "did you mean 'scarce-10'"),
        (["figure", "tsne", "x", "--regime", "random", "--split", "stored"], "leave --split out"),
        (["figure", "tsne", "x", "--regime", "unseen-event"], "every event takes its turn"),
        (["figure", "tsme", "x"], "did you mean 'tsne'"),
        (["figure", "tsne"], "needs messages"),
        (["figure", "tsne", "x", "--out", "a.bmp"], ".png, .pdf, .svg"),
        (["figure", "groups", "x", "--view", "user"], "another view"),
        (["figure", "tsne", "x", "--view", "entty"], "did you mean 'entity'"),
        (["figure", "tsne", "x", "--methods", "ucl-ek"], "did you mean ucl-ec"),
        (["figure", "tsne", "x", "--split", "randon"], "did you mean 'random'"),
        (["figure", "tsne", "x", "--preset", "papr"], "did you mean 'paper'"),
        (["figure", "tsne", "x", "--encoder", "wordlama"], "did you mean 'wordllama'"),
        (["figure", "tsne", "x", "--set", "training.epoch=3"], "did you mean 'training.epochs'"),
        (["figure", "tsne", "x", "--out", "mine.png"], "there is a file already"),
        (["figure", "tsne", "mine.png", "--out", "mine.png", "--overwrite"], "is an input"),
        (["figure", "groups", "x"], "there is a file already"),
        (["figure", "sensitivity", "x", "--runs", "mine.png"], "a file, where a folder"),
    ],
)
def test_errors_say_what_to_do_before_anything_is_read(words, says, tmp_path, monkeypatch, capsys):
    """Rows 5 and 16: nothing is read for what cannot be, and no file is replaced unasked."""
    monkeypatch.chdir(tmp_path)
    for name in ("mine.png", "groups.png"):
        (tmp_path / name).write_text("mine")
    monkeypatch.setattr("sys.argv", ["eventide", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err
    assert (tmp_path / "mine.png").read_text() == (tmp_path / "groups.png").read_text() == "mine"


def test_a_figure_replaces_another_only_if_asked(tmp_path):
    """Row 5: `--overwrite` where something is."""
    out = tmp_path / "a.svg"
    out.write_text("mine")
    done = invoke("figure", "architecture", "--out", out, "--overwrite")
    assert done.exit_code == 0, done.output
    assert out.read_text().startswith("<?xml")
    assert "figure: " in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


def test_class_sizes_of_the_sample(tmp_path, monkeypatch):
    """Row 29: events too small for the paper's split are shown, all of them in training."""
    monkeypatch.chdir(tmp_path)
    sample().write_parquet("sample.parquet")
    done = invoke("figure", "class-sizes", "sample.parquet", "--json", "--out", "sizes.png")
    assert done.exit_code == 0, done.output
    numbers = json.loads(done.stdout)
    assert numbers["too_small"] == 3
    total = sum(sum(numbers[part]) for part in ("train", "val", "test"))
    assert total == len(sample())
    assert numbers["code"]


def test_an_event_too_small_is_said_with_an_option(tmp_path, monkeypatch, capsys):
    """Row 21: on the command line the advice is an option."""
    monkeypatch.chdir(tmp_path)
    sample().write_parquet("sample.parquet")
    monkeypatch.setattr("sys.argv", ["eventide", "figure", "right-wrong", "sample.parquet"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert "choose --split proportional, or --split stored" in said
