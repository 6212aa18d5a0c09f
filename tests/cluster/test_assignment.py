"""Files to parts: the same opinions as at once, resumable, with killed workers and bad rows."""

import gzip
import json
import os
import signal
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import polars as pl
import pytest

from eventide.cluster import assignment
from eventide.cluster.assigner import AssignmentRequest, read_facts
from eventide.cluster.assignment import all_partitions, assign_files, rejected_rows
from eventide.cluster.partitions import FileReading
from eventide.data import read
from eventide.errors import DamagedBundle, OutputError, RejectedRows, UnreadableSource


@pytest.fixture
def request_for(archive, tmp_path):
    """A request for the six files, parts of 40 rows, into a folder of the test's own."""
    files = tuple(str(each) for each in sorted((archive / "in").iterdir()))
    return AssignmentRequest(
        str(archive / "model"), str(tmp_path / "out"), files, FileReading({}, {}, ()), rows=40
    )


def written(request):
    return pl.read_parquet(f"{request.out}/part-*.parquet")


def test_parts_hold_the_same_opinions_as_one_call(archive, request_for, same_opinions):
    seen = []
    summary = assign_files(request_for, watch=seen.append)
    expected = pl.read_parquet(archive / "expected.parquet")
    same_opinions(written(request_for), expected)
    assert summary.messages == summary.written == len(expected)
    assert summary.parts == len(seen) > 6
    assert summary.events["messages"].sum() == len(expected)
    rejected = rejected_rows(request_for)
    assert rejected["file"].to_list() == [request_for.files[3]]
    lines = (archive / "in" / "new-03.jsonl").read_text().count("\n")
    assert rejected["row"].to_list() == [lines]
    again = assign_files(request_for)
    assert (again.kept, again.messages) == (summary.parts, summary.messages)


def test_a_stopped_run_goes_on_where_it_was(request_for):
    done = []

    def stop(facts):
        done.append(facts.name)
        if len(done) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assign_files(request_for, watch=stop)
    later = []
    summary = assign_files(request_for, watch=lambda facts: later.append(facts.name))
    assert summary.kept == 5
    assert not set(done) & set(later)
    assert len(written(request_for)) == summary.messages


def test_a_killed_worker_loses_and_doubles_no_row(archive, request_for, same_opinions):
    killed = []

    def kill(_):
        if not killed:
            killed.append(active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    summary = assign_files(request_for, workers=2, watch=kill)
    assert killed
    expected = pl.read_parquet(archive / "expected.parquet")
    assert summary.messages == len(expected)
    assert summary.repeated_ids == 0
    same_opinions(written(request_for), expected)


def test_another_assignment_is_refused_and_replaced_on_demand(request_for):
    assign_files(replace(request_for, files=request_for.files[:1]))
    with pytest.raises(OutputError, match="another assignment"):
        assign_files(replace(request_for, files=request_for.files[:2]))
    both = assign_files(replace(request_for, files=request_for.files[:2]), overwrite=True)
    assert both.kept == 0
    assert len(written(request_for)) == both.messages


def test_a_damaged_file_is_mended_and_the_run_goes_on(request_for, tmp_path):
    """Parts of whole files are kept; the mended file's own are made again."""
    third = tmp_path / "third.jsonl"
    whole = (Path(request_for.files[2])).read_bytes()
    third.write_bytes(whole)
    with gzip.open(tmp_path / "cut.jsonl.gz", "wb") as file:
        file.write(whole)
    cut = (tmp_path / "cut.jsonl.gz").read_bytes()
    (tmp_path / "cut.jsonl.gz").write_bytes(cut[: len(cut) // 2])
    request = replace(
        request_for, files=(*request_for.files[:1], str(tmp_path / "cut.jsonl.gz"), str(third))
    )
    with pytest.raises(UnreadableSource, match="cut off"):
        assign_files(request)
    before = {each.name for each in (tmp_path / "out").glob("part-*.parquet")}
    assert any(name.startswith("part-00000") for name in before)
    (tmp_path / "cut.jsonl.gz").write_bytes(cut)
    summary = assign_files(request)
    assert summary.kept == len([name for name in before if name.startswith("part-00000")])
    expected = [
        *read(request_for.files[0]).messages["id"],
        *2 * read(third).messages["id"].to_list(),
    ]
    assert sorted(written(request)["id"]) == sorted(expected)
    third.write_bytes(whole + whole)  # once all is done, other files are another assignment
    with pytest.raises(OutputError, match="another assignment"):
        assign_files(request)


def test_a_folder_with_something_else_is_refused(request_for, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match=r"letter\.txt"):
        assign_files(request_for)


def test_parts_of_another_program_are_not_touched(request_for, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-00000.parquet").write_text("of Spark")
    with pytest.raises(OutputError, match=r"part-00000\.parquet"):
        assign_files(request_for, overwrite=True)
    assert (tmp_path / "out" / "part-00000.parquet").read_text() == "of Spark"


def test_a_replacement_that_is_stopped_leaves_nothing_to_go_on_with(
    request_for, tmp_path, monkeypatch
):
    """Neither the old assignment nor the new one takes the parts that are left for its own."""
    old = replace(request_for, files=request_for.files[:2])
    assign_files(old)

    def stop(*_):
        next(Path(old.out).glob("part-*")).unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(assignment, "_clear", stop)
    with pytest.raises(KeyboardInterrupt):
        assign_files(request_for, overwrite=True)
    monkeypatch.undo()
    for request in (old, request_for):
        with pytest.raises(OutputError, match="another assignment"):
            assign_files(request)
    assert assign_files(old, overwrite=True).kept == 0


def test_a_damaged_part_is_named(request_for, tmp_path):
    only = replace(request_for, files=request_for.files[:1])
    assign_files(only)
    part = next((tmp_path / "out").glob("part-*.parquet"))
    part.write_bytes(b"PAR1")
    with pytest.raises(DamagedBundle, match="damaged") as damaged:
        read_facts(part)
    assert str(part) in str(damaged.value)


def test_strict_and_mostly_bad_files_are_refused(request_for, tmp_path):
    with pytest.raises(RejectedRows, match="not valid"):
        assign_files(replace(request_for, files=request_for.files[3:4], strict=True))
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "1", "text": "flood"}\n' + "{broken\n" * 4)
    mostly = replace(request_for, files=(str(bad),), out=str(tmp_path / "mostly"))
    with pytest.raises(RejectedRows, match="4 of 5 rows"):
        assign_files(mostly)
    assert assign_files(mostly, allow_rejected=True).messages == 1


def test_a_partition_without_a_usable_row_has_an_empty_part(request_for, tmp_path):
    (tmp_path / "bad.jsonl").write_text(
        '{"id": "1", "text": "flood"}\n{"id": "2", "text": ""}\n{"id": "3", "text": "fire"}\n'
    )
    request = replace(request_for, files=(str(tmp_path / "bad.jsonl"),), rows=1)
    summary = assign_files(request)
    assert (summary.parts, summary.rejected) == (3, 1)
    assert written(request)["id"].to_list() == ["1", "3"]


def test_threshold_and_text_reach_the_parts(archive, request_for):
    half = float(pl.read_parquet(archive / "expected.parquet")["doubt"].median())
    request = replace(request_for, files=request_for.files[:2], threshold=half, with_text=True)
    summary = assign_files(request)
    found = written(request_for)
    assert found["doubt"].min() >= half
    assert {"text", "created_at"} <= set(found.columns)
    assert summary.written == len(found) < summary.messages
    json.dumps(summary.plain())


def test_finished_partitions_are_not_read_out_again(request_for):
    names = [each.name for each in all_partitions(request_for, frozenset())]
    rest = [each.name for each in all_partitions(request_for, frozenset(names[:4]))]
    assert rest == names[4:]
