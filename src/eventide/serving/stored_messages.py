"""Messages in the store: putting in, finding, forgetting, and how they look to a client."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, delete, func, or_, select

from eventide.errors import InputError
from eventide.serving.candidate_rows import leave_candidates, members_of, next_version
from eventide.serving.store import (
    CANDIDATE_MEMBERS,
    MESSAGES,
    REVIEWS,
    UNGROUPED,
    Store,
    insert_new,
)

Row = dict[str, Any]
IN_ONE = 500
"""Ids in one query."""

M = MESSAGES.c


@dataclass(frozen=True)
class MessageFilter:
    """What a client wants to see; None asks for nothing in particular."""

    event: str | None = None
    verdict: str | None = None
    min_doubt: float | None = None
    max_doubt: float | None = None
    since: int | None = None
    until: int | None = None
    text: str | None = None
    reviewed: bool | None = None
    candidate: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions on the table of messages."""
        moment = func.coalesce(M.created_at, M.received_at)
        asked: list[tuple[Any, Callable[[Any], ColumnElement[bool]]]] = [
            (self.event, lambda value: M.assigned == value),
            (self.verdict, lambda value: M.verdict == value),
            (self.min_doubt, lambda value: M.doubt >= value),
            (self.max_doubt, lambda value: M.doubt <= value),
            (self.since, lambda value: moment >= value),
            (self.until, lambda value: moment < value),
            (self.candidate, lambda value: M.id.in_(members_of(value))),
        ]
        found = [condition(value) for value, condition in asked if value is not None]
        if self.reviewed is not None:
            found.append(
                M.review_action.is_not(None) if self.reviewed else M.review_action.is_(None)
            )
        if self.text:
            wanted = self.text.lower()
            found.append(
                or_(
                    func.lower(M.text).contains(wanted, autoescape=True),
                    func.lower(func.coalesce(M.author, "")).contains(wanted, autoescape=True),
                    M.id == self.text,
                )
            )
        return found


@dataclass(frozen=True)
class MessagePage:
    """Some messages in order, and where to go on; ``cursor`` is None at the end."""

    rows: list[Row]
    cursor: str | None


def find_by_ids(connection: Connection, ids: Sequence[str]) -> dict[str, Row]:
    """Return the stored messages with these ids."""
    found: dict[str, Row] = {}
    for start in range(0, len(ids), IN_ONE):
        part = list(ids[start : start + IN_ONE])
        for row in connection.execute(select(MESSAGES).where(M.id.in_(part))).mappings():
            found[row["id"]] = dict(row)
    return found


def digests_of(connection: Connection, ids: Sequence[str]) -> dict[str, str]:
    """Return the hash of what was sent for each of these ids."""
    found: dict[str, str] = {}
    for start in range(0, len(ids), IN_ONE):
        part = M.id.in_(list(ids[start : start + IN_ONE]))
        found |= {
            row.id: row.digest for row in connection.execute(select(M.id, M.digest).where(part))
        }
    return found


def put_in(connection: Connection, rows: Sequence[Row]) -> None:
    """Insert messages, to be grouped soon; one whose id is taken meanwhile stays as it was."""
    insert_new(connection, MESSAGES, rows)
    insert_new(connection, UNGROUPED, [{"message_id": row["id"]} for row in rows])


def one_message(store: Store, message_id: str) -> Row | None:
    """Return the message with this id."""
    with store.reading() as connection:
        return find_by_ids(connection, [message_id]).get(message_id)


def newest_first(
    store: Store, wanted: MessageFilter, cursor: str | None, limit: int
) -> MessagePage:
    """Return a page of messages, the newest first."""
    query = select(MESSAGES).where(*wanted.conditions()).order_by(M.seq.desc())
    if cursor is not None:
        query = query.where(M.seq < _numbers(cursor, 1)[0])
    rows = _rows(store, query, limit + 1)
    more = _cursor(rows[limit - 1]["seq"]) if len(rows) > limit else None
    return MessagePage(rows[:limit], more)


def review_queue(store: Store, event: str | None, cursor: str | None, limit: int) -> MessagePage:
    """Return a page of messages nobody has reviewed, the most urgent first."""
    query = select(MESSAGES).where(M.review_action.is_(None))
    if event is not None:
        query = query.where(M.assigned == event)
    query = query.order_by(M.priority.desc(), M.seq.desc())
    if cursor is not None:
        level, seq = _numbers(cursor, 2)
        query = query.where(or_(M.priority < level, (M.priority == level) & (M.seq < seq)))
    rows = _rows(store, query, limit + 1)
    last = rows[limit - 1] if len(rows) > limit else None
    return MessagePage(
        rows[:limit], None if last is None else _cursor(last["priority"], last["seq"])
    )


def every_message(store: Store, *, reviewed: bool | None = None) -> Iterator[Row]:
    """Give all messages in the order they came in, a page at a time."""
    after = 0
    conditions = MessageFilter(reviewed=reviewed).conditions()
    while True:
        query = select(MESSAGES).where(M.seq > after, *conditions).order_by(M.seq)
        rows = _rows(store, query, IN_ONE)
        yield from rows
        if len(rows) < IN_ONE:
            return
        after = rows[-1]["seq"]


def forget_user(store: Store, name: str) -> int:
    """Delete an author's messages and what was said of them; return how many went."""
    from eventide.model.forget import spellings  # not above: it brings torch

    return _delete(store, M.author.in_(spellings([name])))


def forget_older(store: Store, received_before: int) -> int:
    """Delete messages that came in before a time; return how many went."""
    return _delete(store, M.received_at < received_before)


def _delete(store: Store, condition: ColumnElement[bool]) -> int:
    with store.writing() as connection:
        next_version(connection)  # first: what a service groups meanwhile is not written
        ids = select(M.id).where(condition)
        connection.execute(delete(REVIEWS).where(REVIEWS.c.message_id.in_(ids)))
        connection.execute(delete(UNGROUPED).where(UNGROUPED.c.message_id.in_(ids)))
        leave_candidates(connection, CANDIDATE_MEMBERS.c.message_id.in_(ids))
        return int(connection.execute(delete(MESSAGES).where(condition)).rowcount)


def _rows(store: Store, query: Select[Any], limit: int) -> list[Row]:
    with store.reading() as connection:
        return [dict(row) for row in connection.execute(query.limit(limit)).mappings()]


def _cursor(*numbers: float) -> str:
    return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode().rstrip("=")


def _numbers(cursor: str, count: int) -> list[Any]:
    """Read a cursor; nothing but what `_cursor` wrote is taken."""
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        found = None
    if (
        not isinstance(found, list)
        or len(found) != count
        or any(type(each) not in (int, float) or not abs(each) < 2**62 for each in found)
        or type(found[-1]) is not int
    ):
        raise InputError("this is not a cursor", next_step="take the one of the page before")
    return found


def iso(moment: int | None) -> str | None:
    """Write a time of the store for a client.

    >>> iso(0)
    '1970-01-01T00:00:00.000Z'
    """
    if moment is None:
        return None
    written = datetime.fromtimestamp(moment / 1000, tz=UTC).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")


def shown(row: Row) -> Row:
    """Turn a row of the store into what a client gets."""
    reviewed = row["review_action"] is not None
    return {
        "id": row["id"],
        "text": row["text"],
        "created_at": iso(row["created_at"]),
        "received_at": iso(row["received_at"]),
        "user": row["author"],
        "elements": json.loads(row["elements"]),
        "assigned": row["assigned"],
        "review": {
            "action": row["review_action"],
            "event": row["review_event"],
            "at": iso(row["reviewed_at"]),
        }
        if reviewed
        else None,
        "opinion": {
            "event": row["event"],
            "probability": row["probability"],
            "doubt": row["doubt"],
            "verdict": row["verdict"],
            "novelty": row["novelty"],
            "reason": row["reason"],
            "belief": row["belief"],
            "vacuity": row["vacuity"],
            "dissonance": row["dissonance"],
            "conflict": row["conflict"],
            "next_event": row["next_event"],
            "next_belief": row["next_belief"],
            "views": json.loads(row["views"]),
            "model": row["model"],
        },
    }
