"""``eventide report``, ``train --report`` and ``figure --model`` as a person types them."""

import json

import pytest

from eventide.cli.main import main


def test_a_report_is_written_once(invoke, trained, tmp_path):
    out = tmp_path / "deep" / "report.html"
    done = invoke("report", trained / "model", trained / "messages.parquet", "--out", out)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("report: ")
    html = out.read_text(encoding="utf-8")
    assert "Events in messages.parquet" in html
    assert 1_000_000 < len(html) < 5_000_000
    again = invoke("report", trained / "model", "--out", out)
    assert again.exit_code != 0
    assert out.read_text(encoding="utf-8") == html
    done = invoke("report", trained / "model", "--out", out, "--overwrite", "--json", "--no-text")
    assert json.loads(done.stdout) == {"report": str(out), "bytes": out.stat().st_size}
    assert "It holds no text of any message" in out.read_text(encoding="utf-8")
    assert [each.name for each in out.parent.iterdir()] == ["report.html"]


def test_hostile_names_reach_neither_terminal_nor_page(invoke, hostile, tmp_path):
    out = tmp_path / "report.html"
    done = invoke("report", hostile / "model", hostile / "messages.parquet", "--out", out)
    assert done.exit_code == 0, done.output
    for text in (done.output, out.read_text(encoding="utf-8")):
        assert not any(sign in text for sign in "\x1b\u202e\u200b\x07\x9b")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("report", "{model}", "--out", "{model}/report.html"), "inside a model"),
        (("report", "{model}", "--out", "report.txt"), ".html, .htm"),
        (("report", "{model}", "{messages}", "--out", "{messages}"), "cannot write .parquet"),
        (("report", "nothing", "--out", "a.html"), "nothing"),
        (("report", "{model}", "--out", "a.html", "--accuracy", "7"), "accuracy of 7"),
        (("report", "{model}", "nowhere.csv", "--out", "a.html"), "nowhere.csv"),
        (("figure", "drift", "--model", "{model}"), "of a model there are"),
        (("figure", "tsne", "--model", "{model}", "--methods", "ce"), "trained already"),
        (("train", "{messages}", "--out", "m", "--report", "a.pdf"), ".html, .htm"),
    ],
)
def test_what_cannot_be_is_said_before_any_work(
    words, says, trained, tmp_path, monkeypatch, capsys
):
    """The commands end in an error with a next step, and leave nothing behind."""
    places = {"model": trained / "model", "messages": trained / "messages.parquet"}
    given = [str(word).format(**places) for word in words]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["eventide", *given])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert says in said
    assert "next:" in said
    assert list(tmp_path.iterdir()) == []


def test_training_writes_a_report_too(invoke, trained, tmp_path):
    done = invoke(
        "train", trained / "messages.parquet", "--out", tmp_path / "model", "--report",
        tmp_path / "page.html", "--encoder", "tfidf-svd:8", "--set", "training.epochs=1",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1].startswith("report: ")
    assert "Events in messages.parquet" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_figure_of_a_model(invoke, trained, tmp_path):
    out = tmp_path / "sizes.png"
    words = ("figure", "class-sizes", "--model", trained / "model")
    done = invoke(*words, trained / "messages.parquet", "--out", out)
    assert done.exit_code == 0, done.output
    assert out.read_bytes().startswith(b"\x89PNG")
    values = json.loads(invoke(*words, "--json").stdout)
    assert values["figure"] == "class-sizes"
    assert sum(values["val"]) > 0
