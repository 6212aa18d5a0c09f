"""``eventide discover`` and ``eventide labels`` on the command line."""

import json

import polars as pl


def test_candidates_persist_and_can_be_decided(trained, invoke, tmp_path):
    model, out = trained / "model", tmp_path / "candidates"
    words = ("discover", model, trained / "new.jsonl", "--out", out, "--false-alarms", 0.9)
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    assert all(len(line) <= 80 for line in done.output.splitlines() if "/" not in line)
    first = json.loads(invoke(*words, "--json").stdout)  # the same day again changes nothing
    assert first
    assert {"id", "keywords", "first", "last", "volume", "examples", "purity"} <= first[0].keys()
    ident = first[0]["id"]
    done = invoke("discover", model, "--out", out, "--accept", f"{ident}=my event")
    assert done.exit_code == 0, done.output
    assert "eventide update" in done.output
    accepted = pl.read_ndjson(out / "accepted.jsonl")
    assert accepted["event"].unique().to_list() == ["my event"]
    assert len(accepted) == first[0]["volume"]
    both = invoke("discover", model, "--out", out, "--accept", ident, "--dismiss", ident)
    assert both.exit_code == 2 or both.exception is not None
    assert invoke("discover", model, "--out", out, "--dismiss", "c9999").exit_code != 0
    assert invoke("discover", model, "--out", out).exit_code != 0


def test_labels_are_ranked_and_written(trained, invoke, tmp_path):
    words = ("labels", trained / "model", trained / "new.jsonl")
    done = invoke(*words, "--out", tmp_path / "review.csv", "--most", 7)
    assert done.exit_code == 0, done.output
    assert "labels are suspect" in done.output
    table = pl.read_csv(tmp_path / "review.csv")
    assert len(table) == 7
    assert table.columns[:3] == ["id", "event", "suggested"]
    lines = invoke(*words, "--json").stdout.strip().splitlines()
    assert json.loads(lines[0])["reason"]


def test_verdicts_are_kept_and_counted_by_assign(trained, invoke):
    words = ("assign", trained / "model", trained / "new.jsonl", "--false-alarms", 0.5)
    assert "verdicts: " in invoke(*words).output
    said = [json.loads(line) for line in invoke(*words, "--json").stdout.splitlines()]
    assert {"verdict", "novelty", "reason"} <= said[0].keys()
    kept = invoke(*words, "--verdict", "new", "--json").stdout.splitlines()
    assert len(kept) == sum(each["verdict"] == "new" for each in said)
    assert invoke(*words, "--verdict", "nwe").exit_code != 0
