"""Messages that were read as a whole: workers give the same table as one call, in its order."""

import polars as pl
import pytest

from eventide.cluster.assigner import AssignmentRequest
from eventide.cluster.one_table import assign_messages
from eventide.cluster.partitions import FileReading
from eventide.data import read
from eventide.model import load_model


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_give_the_opinions_of_one_call_in_order(archive, workers, same_opinions):
    messages = read([str(archive / "in" / "new-00.jsonl"), str(archive / "in" / "new-01.jsonl")])
    model = load_model(archive / "model")
    expected = model.opinions(messages, coverage=0.8, false_alarms=0.2)
    request = AssignmentRequest(
        str(archive / "model"),
        "",
        (),
        FileReading({}, {}, ()),
        rows=0,
        coverage=0.8,
        false_alarms=0.2,
    )
    found, notes = assign_messages(messages.messages, request, workers, rows=30)
    assert found["id"].to_list() == messages.messages["id"].to_list()
    assert found.schema == expected.schema
    same_opinions(found, expected)
    assert found["set"].to_list() == expected["set"].to_list()
    assert found["verdict"].to_list() == expected["verdict"].to_list()
    assert notes == ()


def test_edited_messages_are_noted_part_by_part(archive):
    known = pl.read_parquet(archive / "labelled.parquet").head(3)
    messages = read(known.with_columns(text=pl.col("text") + " and more")).messages
    request = AssignmentRequest(str(archive / "model"), "", (), FileReading({}, {}, ()), rows=0)
    _, notes = assign_messages(messages, request, workers=1, rows=2)
    assert [note.partition(" messages")[0] for note in notes] == ["2 of 2", "1 of 1"]
