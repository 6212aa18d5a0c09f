"""The file of runs survives what happens to files."""

import json

from eventide.experiments.run_log import RunLog


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
