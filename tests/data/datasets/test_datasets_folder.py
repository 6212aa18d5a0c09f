"""The data folder and its register."""

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from eventide.data.datasets import data_folder, register, registered_path
from eventide.data.datasets.build import build
from eventide.errors import OutputError, UnreadableSource


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENTIDE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_the_variable_moves_the_folder_and_the_platform_has_a_default(
    folder, monkeypatch, tmp_path
):
    assert data_folder() == folder
    monkeypatch.delenv("EVENTIDE_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert data_folder() == tmp_path / "eventide"
    assert data_folder().name == "eventide"


def test_the_folder_of_an_older_version_is_used_where_there_is_no_newer_one(monkeypatch, tmp_path):
    monkeypatch.delenv("EVENTIDE_DATA")
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path / "new")
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert data_folder() == tmp_path / "new"
    older = tmp_path / "Library" / "Application Support" / "eventide"
    older.mkdir(parents=True)
    assert data_folder() == older
    (tmp_path / "new").mkdir()
    assert data_folder() == tmp_path / "new"


def test_a_registered_file_is_found_until_it_is_gone(tmp_path):
    file = tmp_path / "set.parquet"
    file.write_bytes(b"x")
    assert registered_path("my-set") is None
    register("my-set", file)
    register("other", file)
    assert registered_path("my-set") == file
    file.unlink()
    with pytest.raises(UnreadableSource, match=r"(?s)gone.*build my-set"):
        registered_path("my-set")


@pytest.mark.parametrize("name", ["", "../my-set", "a/b", "a.csv", ".", "x" * 300])
def test_paths_are_no_names(name, folder):
    assert registered_path(name) is None


def test_a_damaged_entry_is_an_error_for_people(folder):
    (folder / "registered").mkdir(parents=True)
    (folder / "registered" / "bad.json").write_text("{")
    with pytest.raises(UnreadableSource, match="damaged"):
        registered_path("bad")


def test_a_folder_that_cannot_be_written_is_told(folder, tmp_path):
    """Row 15: the register follows the umask, and a place that is a file is a typed error."""
    file = tmp_path / "set.parquet"
    file.write_bytes(b"x")
    before = os.umask(0o027)
    try:
        register("my-set", file)
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "registered" / "my-set.json").stat().st_mode) == 0o640
    shutil.rmtree(folder)
    folder.write_text("a file")
    with pytest.raises(OutputError, match="cannot write"):
        register("my-set", file)


def test_row_5_a_build_never_replaces_its_source(tmp_path):
    source = tmp_path / "source.npy"
    source.write_text("precious")
    for out in (source, tmp_path / "." / "source.npy"):
        with pytest.raises(OutputError, match="would be destroyed"):
            build("events2012-100", source, out)
    with pytest.raises(OutputError, match="a folder"):
        build("events2012-100", source, tmp_path)
    assert source.read_text() == "precious"
