"""Writing messages: whole, or not at all and said so."""

import polars as pl
import pytest

from eventide.errors import CannotWrite, InputError
from eventide.outputs import write_parquet


def test_a_file_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "new" / "a.parquet"
    write_parquet(pl.DataFrame({"id": ["1"]}), path)
    write_parquet(pl.DataFrame({"id": ["2"]}), path)
    assert pl.read_parquet(path)["id"].to_list() == ["2"]
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    write_parquet(pl.DataFrame({"id": ["1"]}), path)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with pytest.raises(CannotWrite, match="No space left"):
        write_parquet(pl.DataFrame({"id": ["2"]}), path)
    assert pl.read_parquet(path)["id"].to_list() == ["1"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path, tmp_path / "file" / "a.parquet"):
        with pytest.raises(InputError, match=r"cannot write|plain file"):
            write_parquet(pl.DataFrame({"id": ["1"]}), path)
