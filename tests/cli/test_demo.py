"""``eventide demo``: where it writes, and what it says before and when stopped."""

import pytest

from eventide.cli.demo import MARK, own_folder
from eventide.errors import OutputError
from eventide.model import EventClassifier


def test_a_demo_replaces_its_own_earlier_folder_and_nothing_else(tmp_path, trained):
    """Row 5: a folder with other things is left alone."""
    new, empty, mine, earlier = (tmp_path / name for name in ("new", "empty", "mine", "earlier"))
    for folder in (empty, mine, earlier):
        folder.mkdir()
    (mine / "sample.parquet").write_text("mine")
    (earlier / MARK).write_text("")
    (earlier / "sample.parquet").write_text("a demo's")
    assert [own_folder(folder) for folder in (new, empty, earlier)] == [new, empty, earlier]
    for folder in (mine, trained / "model", mine / "sample.parquet", tmp_path / ".."):
        with pytest.raises(OutputError, match="--out FOLDER"):
            own_folder(folder)


def test_the_demo_says_beforehand_how_long_it_takes_and_can_be_stopped(
    invoke, tmp_path, monkeypatch
):
    """Row 22: no silence, and Ctrl-C says how to go on."""

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(EventClassifier, "fit", stopped)
    done = invoke("demo", "--out", tmp_path / "demo")
    assert done.exit_code == 130
    assert "about a minute" in done.stdout.splitlines()[0]
    assert done.stderr.splitlines()[-1] == "stopped: the same command starts again"
    assert (tmp_path / "demo" / MARK).is_file()
    assert own_folder(tmp_path / "demo") == tmp_path / "demo"
