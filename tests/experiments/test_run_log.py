"""The file of runs survives what happens to files."""

from eventide.experiments.run_log import RunLog


def test_what_is_appended_is_read_back(compared, tmp_path):
    ledger = RunLog(tmp_path / "deep" / "runs.jsonl")
    assert ledger.read() == ([], 0)
    for run in compared.runs["ce"]:
        ledger.append(run)
    assert ledger.read() == (list(compared.runs["ce"]), 0)


def test_a_line_cut_short_costs_itself_alone(compared, tmp_path):
    ledger = RunLog(tmp_path / "runs.jsonl")
    first, second = compared.runs["ce"]
    ledger.append(first)
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole + whole[: len(whole) // 2])
    assert ledger.read() == ([first], 1)
    ledger.append(second)
    assert ledger.read() == ([first, second], 1)
    assert ledger.path.read_bytes().startswith(whole)


def test_foreign_lines_are_counted_not_believed(compared, tmp_path):
    ledger = RunLog(tmp_path / "runs.jsonl")
    ledger.path.write_text('{"key": 3}\n\n[]\nnonsense\n')
    ledger.append(compared.runs["ce"][0])
    assert ledger.read() == ([compared.runs["ce"][0]], 3)
