"""Candidates keep their ids from day to day, grow, merge, and can be decided."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from eventide.errors import InputError
from eventide.novelty.candidates import ACCEPTED, DISMISSED, Candidates

START = datetime(2024, 3, 1, tzinfo=UTC)
TOPICS = {
    "fire": "wildfire smoke above the ridge, houses evacuated near pinar",
    "flood": "river floods the lower town of halvmar, bridge closed by water",
}


def day(number, topic, count=4, offset=0):
    rows = [
        {
            "id": f"{topic}-{number}-{offset + at}",
            "text": f"{TOPICS[topic]} update {'abcdefgh'[at]}{number}",
            "created_at": START + timedelta(days=number, minutes=at),
            "user": "someone",
        }
        for at in range(count)
    ]
    vectors = np.tile(np.eye(2)[list(TOPICS).index(topic)], (count, 1)).astype(np.float32)
    return pl.DataFrame(rows), vectors


def add(found, *days):
    frame = pl.concat([frame for frame, _ in days])
    vectors = np.concatenate([vectors for _, vectors in days])
    found.add(frame, vectors, np.ones(len(frame), dtype=bool))


def test_candidates_grow_under_the_same_id():
    found = Candidates.none()
    add(found, day(0, "fire"), day(0, "flood"))
    before = {each.name: each.id for each in found.candidates}
    assert len(before) == 2
    add(found, day(1, "fire"), day(1, "flood"))
    assert sorted(each.id for each in found.candidates) == sorted(before.values())
    assert [each.volume for each in found.candidates] == [8, 8]
    groups = found.messages.group_by(pl.col("id").str.split("-").list.first()).agg("candidate")
    assert all(len(set(each)) == 1 for each in groups["candidate"])
    assert {"wildfire", "pinar"} & set(found.candidates[0].keywords + found.candidates[1].keywords)


def test_the_same_messages_are_not_taken_in_twice():
    found = Candidates.none()
    add(found, day(0, "fire"))
    add(found, day(0, "fire"))
    assert len(found.messages) == 4
    assert found.seen == 4


def test_messages_that_are_alone_become_a_candidate_later():
    found = Candidates.none()
    add(found, day(0, "fire", count=2))
    assert found.candidates == []
    add(found, day(1, "fire", count=2))
    assert [each.volume for each in found.candidates] == [4]


def test_another_event_long_after_is_another_candidate():
    found = Candidates.none()
    add(found, day(0, "fire"))
    add(found, day(100, "fire"))
    assert len(found.candidates) == 2


def test_dismissed_candidates_take_what_is_like_them():
    found = Candidates.none()
    add(found, day(0, "fire"), day(0, "flood"))
    first, second = found.candidates
    found.decide(first.id, ACCEPTED, "my event")
    found.decide(second.id, DISMISSED)
    add(found, day(1, "fire"), day(1, "flood"))
    assert {each.id: each.state for each in found.candidates} == {
        first.id: ACCEPTED,
        second.id: DISMISSED,
    }
    labelled = found.labelled()
    assert labelled["event"].unique().to_list() == ["my event"]
    assert len(labelled) == 8


def test_an_unknown_candidate_is_refused():
    with pytest.raises(InputError, match="no candidate 'c9'"):
        Candidates.none().decide("c9", DISMISSED)


def test_merged_candidates_are_found_by_their_older_ids():
    found = Candidates.none()
    add(found, day(0, "fire"))
    add(found, day(0, "flood"))
    kept, gone = found.candidates
    # The second candidate turns out to be about the first one's event.
    rows = np.flatnonzero((found.messages["candidate"] == gone.id).to_numpy())
    found.vectors[rows] = found.vectors[0]
    add(found, day(1, "fire", count=1))
    assert [each.id for each in found.candidates] == [kept.id]
    assert found.find(gone.id).merged == [gone.id]
    assert found.candidates[0].volume == 9
