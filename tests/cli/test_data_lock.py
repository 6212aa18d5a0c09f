"""``eventide data lock``."""

import json

import polars as pl
import pytest

from eventide.data.lock import rule_lock
from eventide.data.published_lock import hashed_ids
from eventide.errors import OutputError


@pytest.fixture
def files(small_sample, tmp_path):
    """Two overlapping files of one sample."""
    paths = [tmp_path / "one.parquet", tmp_path / "other.parquet"]
    small_sample[:200].write_parquet(paths[0])
    small_sample[100:].write_parquet(paths[1])
    return paths


def test_the_table_names_the_lock_and_fits(invoke, small_sample, files):
    result = invoke("data", "lock", *files)
    assert result.exit_code == 0, result.output
    assert "lock rule-1, version 1" in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    for event in small_sample["event"].unique():
        assert event in result.output
    locked = int(rule_lock(small_sample).mask.sum())
    assert result.output.splitlines()[-3].split()[:3] == [
        "all",
        str(locked),
        str(len(small_sample)),
    ]


def test_the_list_of_a_union(invoke, small_sample, files, tmp_path):
    out = tmp_path / "mine-1.txt"
    result = invoke("data", "lock", *files, "--out", out, "--json")
    told = json.loads(result.output)
    mask = rule_lock(small_sample).mask
    assert (told["lock"], told["version"], told["path"]) == ("rule-1", 1, str(out))
    assert (told["locked"], told["messages"]) == (int(mask.sum()), small_sample.height)
    assert sum(each["locked"] for each in told["events"]) == told["locked"]
    written = out.read_text().split("[locked]\n")[1].split("[open]\n")
    assert written[0].split() == sorted(hashed_ids(small_sample.filter(mask)["id"]))
    assert written[1].split() == sorted(hashed_ids(small_sample.filter(~mask)["id"]))


def test_a_list_replaces_nothing_unasked(invoke, files, tmp_path):
    out = tmp_path / "mine-1.txt"
    out.write_text("mine")
    assert isinstance(invoke("data", "lock", files[0], "--out", out).exception, OutputError)
    assert out.read_text() == "mine"
    assert invoke("data", "lock", files[0], "--out", out, "--overwrite").exit_code == 0
    wrong = invoke("data", "lock", files[0], "--out", tmp_path / "list.csv").exception
    assert isinstance(wrong, OutputError)


def test_messages_without_events(invoke, tmp_path):
    path = tmp_path / "plain.csv"
    texts = [f"{number * 7919} words" for number in range(9)]
    pl.DataFrame({"id": map(str, range(9)), "text": texts}).write_csv(path)
    result = invoke("data", "lock", path)
    assert result.exit_code == 0, result.output
    assert "(no event)" in result.output
