"""Partitions of files: every row once, with its own number, whatever the format."""

import polars as pl
import pytest

from eventide.cluster import partitions as module
from eventide.cluster.partitions import FileReading, files_of, partitions
from eventide.data import read
from eventide.errors import UnreadableSource

READING = FileReading({}, {}, ())


def messages(count):
    return pl.DataFrame(
        {"id": [f"m{n}" for n in range(count)], "text": [f"flood {n}" for n in range(count)]}
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_row_is_in_one_partition(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(module, "SLICE_ROWS", 10)
    path, frame = tmp_path / f"messages{suffix}", messages(50)
    {".jsonl": frame.write_ndjson, ".csv": frame.write_csv, ".parquet": frame.write_parquet}[
        suffix
    ](path)
    parts = list(partitions(path, 0, READING, rows=7))
    found = pl.concat([each.intake(READING, [str(path)]).messages for each in parts])
    assert found["id"].to_list() == frame["id"].to_list()
    assert len({each.name for each in parts}) == len(parts)
    assert len(parts) >= 6


def test_made_ids_are_those_of_one_reading(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        messages(3).select("text").write_csv(path)
    whole = read(paths).messages["id"].to_list()
    found = [
        row
        for part, path in enumerate(paths)
        for each in partitions(path, part, READING)
        for row in each.intake(READING, [str(one) for one in paths]).messages["id"]
    ]
    assert found == whole


def test_dates_of_a_cut_file_are_read_in_one_order(tmp_path, monkeypatch):
    """The first rows leave open what a later one decides; all are read as that one says."""
    monkeypatch.setattr(module, "SLICE_ROWS", 2)
    frame = messages(6).with_columns(
        created_at=pl.Series(["03/04/2013", "04/04/2013"] * 2 + ["03/04/2013", "25/04/2013"])
    )
    frame.write_parquet(tmp_path / "dates.parquet")
    parts = list(partitions(tmp_path / "dates.parquet", 0, READING, rows=2))
    assert len(parts) == 3
    times = pl.concat([each.intake(READING, ["dates"]).messages for each in parts])["created_at"]
    assert times.dt.month().to_list() == [4] * 6


def test_folders_patterns_and_names(tmp_path):
    (tmp_path / "_old").mkdir()
    for name in ("b.jsonl", "a.csv", "notes.txt", "_old/c.csv", ".hidden.csv"):
        (tmp_path / name).write_text("text\nflood\n")
    assert [each.name for each in files_of([tmp_path])] == ["a.csv", "b.jsonl"]
    assert [each.name for each in files_of([f"{tmp_path}/*.csv"])] == ["a.csv"]
    with pytest.raises(UnreadableSource, match="standard input"):
        files_of(["-"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableSource, match="no file in the folder"):
        files_of([tmp_path / "empty"])
