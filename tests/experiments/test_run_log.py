"""The file of runs survives what happens to files."""

import gzip
import json

import pytest

from eventide.errors import UnreadableSource
from eventide.experiments.run_log import RunLog
from invented_regimes import record


def test_what_is_appended_is_read_back(compared, tmp_path):
    log = RunLog(tmp_path / "deep" / "runs.jsonl")
    assert log.read() == ([], 0)
    for run in compared.runs["ce"]:
        log.append(run)
    assert log.read() == (list(compared.runs["ce"]), 0)


def test_a_line_cut_short_costs_itself_alone(compared, tmp_path):
    log = RunLog(tmp_path / "runs.jsonl")
    first, second = compared.runs["ce"]
    log.append(first)
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + whole[: len(whole) // 2])
    assert log.read() == ([first], 1)
    log.append(second)
    assert log.read() == ([first, second], 1)
    assert log.path.read_bytes().startswith(whole)


def test_foreign_lines_are_counted_not_believed(compared, tmp_path):
    log = RunLog(tmp_path / "runs.jsonl")
    log.path.write_text('{"key": 3}\n\n[]\nnonsense\n')
    log.append(compared.runs["ce"][0])
    assert log.read() == ([compared.runs["ce"][0]], 3)


def test_records_of_earlier_versions_are_read(compared, tmp_path):
    """Before the redesign a variant was a contestant, and predicting was judging."""
    run = compared.runs["ce"][0]
    old = json.loads(run.model_dump_json())
    old["contestant"] = old.pop("variant")
    old["outcome"]["seconds"]["judge"] = old["outcome"]["seconds"].pop("predict")
    log = RunLog(tmp_path / "runs.jsonl")
    log.path.write_text(json.dumps(old) + "\n")
    assert log.read() == ([run], 0)


def test_a_packed_log_is_read_as_far_as_it_goes(tmp_path):
    runs = [record("random", "ce", seed, 0.5) for seed in range(3)]
    packed = gzip.compress("\n".join(run.model_dump_json() for run in runs).encode())
    log = RunLog(tmp_path / "runs.jsonl.gz")
    log.path.write_bytes(packed)
    assert log.read() == (runs, 0)
    log.path.write_bytes(packed[:-20])
    found, damaged = log.read()
    assert found == runs[: len(found)]
    assert damaged >= 1
    log.path.write_bytes(b"not packed at all")
    with pytest.raises(UnreadableSource, match="pack it again"):
        log.read()
